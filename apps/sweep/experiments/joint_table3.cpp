// Table 3 of KERPLE and table 3 of Sandwich in one: the same models, text and seeds under all of
// their measurements, which no paper has.

#include "apps/sweep/arms.h"

namespace farfield::sweep {
namespace {

const std::vector<double> kLengths = {1, 2, 4, 8, 16, 32};

// In the order in which they tell most, which is the order in which they are made: what little time
// there is goes to the first.
std::vector<Arm> arms() {
  std::vector<Arm> all = {rotary(), alibi(), kerple_log(), sandwich(), t5(), sinusoidal()};
  all.push_back(arm_of("None", "none", ""));
  all.push_back(arm_of("FIRE", "fire", ""));
  all.push_back(bias_wht());
  all.push_back(kerple_power());
  all.push_back(arm_of("w = 128", "window(w=128)", ""));
  all.push_back(arm_of("Rotary, bf16 angles", "rope(angle_dtype=bf16)", ""));
  return all;
}

Output table_of(const char* measure, const char* caption) {
  return {.form = Output::Form::table, .measure = measure, .caption = caption};
}

}  // namespace

std::vector<Experiment> joint_table3_rows() {
  return {{.place = 10,
           .id = "joint/table3",
           .title = "the main comparisons of both papers, on one text",
           .source = "Sandwich (arXiv:2212.10356) table 3 and KERPLE (arXiv:2205.09921) table 3, "
                     "together",
           .datasets = {"github", "arxiv", "openwebtext2"},
           .has_spread = true,
           .arms = arms(),
           .measures = {{.key = "P1", .protocol = "last-token", .lengths = kLengths},
                        {.key = "P2", .protocol = "non-overlapping", .lengths = kLengths},
                        {.key = "P4", .protocol = "position-wise", .lengths = {32}},
                        {.key = "P9", .protocol = "cached", .lengths = kLengths},
                        gradient()},
           .outputs = {table_of("P1", "perplexity of the last token"),
                       table_of("P2", "perplexity of chunks"),
                       table_of("P9",
                                "perplexity of the last token, with a cache of the last 4 L "
                                "tokens"),
                       {.form = Output::Form::curves, .measure = "P1"},
                       {.form = Output::Form::series,
                        .measure = "P4",
                        .quantity = "smoothed perplexity",
                        .caption = "perplexity by position, averaged over neighbours"},
                       cumulative_gradient(),
                       {.form = Output::Form::rows,
                        .measure = "P6",
                        .quantities = {"erf"},
                        .caption = "empirical receptive field, tokens"}},
           .reference_arm = "KERPLE-log",
           .remarks = {"Models stand in the order in which they are made; what nobody has trained "
                       "yet is empty.",
                       "Its findings stand in sandwich/table3 and kerple/table3, which share these "
                       "models."}}};
}

}  // namespace farfield::sweep
