// The time cost of KERPLE's kernels: tables 4 and 7.

#include <cmath>
#include <cstdlib>

#include "apps/analysis/timing.h"
#include "apps/eval/results.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/section.h"
#include "apps/sweep/step_times.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char* kPaper = "KERPLE (arXiv:2205.09921) ";
constexpr double kTrainLens[] = {1, 4};  // the longer one only below `small`

// Models of a few steps, since only their cost is looked at.
std::vector<Arm> timed(const std::vector<Arm>& encodings) {
  std::vector<Arm> arms;
  for (const double length : kTrainLens)
    for (Arm arm : encodings) {
      arm.group = trained_at(length);
      if (length != 1) arm.label += ", " + arm.group;
      arm.train_len = length;
      arm.steps = 0.01;
      if (length != 1) arm.scales = Arm::Scales::shrunk;
      arms.push_back(arm);
    }
  return arms;
}

const PlannedArm* timed_arm(const Measured& m, double train_len, const std::string& encoding) {
  for (const PlannedArm* arm : m.arms(trained_at(train_len)))
    if (arm->arm.encoding == encoding) return arm;
  return nullptr;
}

// One encoding trains faster than another.
void faster(const Measured& m, Evidence& e, const char* one, const char* other) {
  for (const double length : kTrainLens) {
    const PlannedArm *const a = timed_arm(m, length, one), *const b = timed_arm(m, length, other);
    if (a == nullptr || b == nullptr) continue;
    const std::string what = concat("seconds per step, ", b->label(), " / ", a->label());
    const double ratio = step_time(m, *b) / step_time(m, *a);
    if (are_step_times_apart(m, *a, *b))
      e.above(what, ratio, 1);
    else
      e.undecided(what, ratio, kStepTimesApart);
  }
}

void k_t4_1(const Measured& m, Evidence& e) {
  constexpr const char* kOrder[] = {"sinusoidal",   "alibi", "kerple_log",
                                    "kerple_power", "rope",  "t5"};
  for (size_t i = 1; i < std::size(kOrder); ++i) faster(m, e, kOrder[i - 1], kOrder[i]);
}

double printed_step(const std::string& encoding) {
  for (const char* table : {"kerple/table4", "kerple/table7"})
    for (const PrintedNumber& number : printed_numbers_of(table))
      if (number.encoding == encoding) return std::strtod(number.mean.c_str(), nullptr);
  return std::nan("");
}

// Checks the printed percentages against the printed seconds. A printed percentage has one decimal.
void k_t4_2(const Measured&, Evidence& e) {
  struct Quoted {
    const char *quantity, *encoding;
    double sign;
  };
  constexpr Quoted kQuoted[] = {{"log faster than power", "kerple_power", 1},
                                {"log faster than T5", "t5", 1},
                                {"log slower than ALiBi", "alibi", -1},
                                {"log faster than rotary", "rope", 1},
                                {"log slower than sinusoidal", "sinusoidal", -1}};
  for (const Quoted& quoted : kQuoted) {
    const std::string printed = printed_scalar("kerple/table4", quoted.quantity);
    const double percent = quoted.sign * analysis::percent_faster(printed_step("kerple_log"),
                                                                  printed_step(quoted.encoding));
    e.holds(concat(quoted.quantity, ", percent"),
            std::abs(percent - std::strtod(printed.c_str(), nullptr)) < 0.1, percent,
            concat("printed ", printed));
  }
}

void k_t7_1(const Measured& m, Evidence& e) {
  for (const char* kernel : {"gauss_wht1", "gauss_wht2", "gauss_bias2", "gauss_bias3"})
    faster(m, e, "kerple_log", kernel);
  for (const char* kernel : {"gauss_wht1", "gauss_wht2", "gauss_bias2"})
    faster(m, e, kernel, "gauss_bias3");
}

std::string over(double seconds, double base) {
  return std::isnan(seconds / base) ? "–" : fixed(seconds / base, 3);
}

// Seconds per step divided by sinusoidal's, measured and as printed in the paper.
void ratios(const Measured& m, Section& section) {
  ReportTable ours, printed;
  ours.caption = concat("a step of training over one of sinusoidal on ", m.dataset().corpus);
  ours.is_sortable = true;
  printed.caption = "printed: KERPLE, tables 4 and 7";
  printed.is_papers = true;
  printed.header = ours.header = {"model", "s / step", "over sinusoidal"};
  for (const PlannedArm& arm : m.arms()) {
    const PlannedArm* const base = timed_arm(m, arm.arm.train_len, "sinusoidal");
    const double seconds = step_time(m, arm);
    ours.rows.push_back({{arm.label()},
                         {std::isnan(seconds) ? "–" : eval::short_number(seconds)},
                         {over(seconds, base == nullptr ? std::nan("") : step_time(m, *base))}});
    if (const double theirs = printed_step(arm.arm.encoding);
        arm.arm.train_len == 1 && !std::isnan(theirs))
      printed.rows.push_back(
          {{arm.label()}, {fixed(theirs, 3)}, {over(theirs, printed_step("sinusoidal"))}});
  }
  section.tables.push_back(std::move(ours));
  section.tables.push_back(std::move(printed));
}

Experiment speed(const char* id, int place, const char* title, const char* table,
                 const std::vector<Arm>& encodings) {
  return {.place = place,
          .id = id,
          .title = title,
          .source = concat(kPaper, table),
          .datasets = {"github"},
          .arms = timed(encodings),
          .measures = {{.key = "P10", .protocol = "speed", .lengths = {1}}},
          .outputs = {{.form = Output::Form::rows,
                       .measure = "P10",
                       .quantities = {"train_step_s", "train_step_s_p10", "train_step_s_p90",
                                      "train_tokens_per_s", "train_peak_mib"},
                       .caption = "steps of training"}},
          .compute = ratios,
          .remarks = {"Measured on models of a few steps, beside whatever else the machine did: "
                      "one worker (--jobs 1) gives the fairest numbers. The order and the ratios "
                      "can be compared with the paper's, seconds cannot. Where one kernel reads "
                      "every table, all encodings may cost the same."}};
}

}  // namespace

std::vector<Experiment> kerple_speed_rows() {
  Experiment table4 = speed("kerple/table4", 440, "seconds per step", "table 4",
                            {kerple_log(), kerple_power(), alibi(), t5(), rotary(), sinusoidal()});
  table4.findings = {{.claim = "K-T4-1", .check = k_t4_1},
                     {.claim = "K-T4-2", .check = k_t4_2, .is_of_printed_numbers = true}};
  Experiment table7 =
      speed("kerple/table7", 450, "seconds per step of Gaussian-like kernels", "table 7",
            {gauss_wht1(), gauss_wht2(), gauss_bias2(), gauss_bias3(), kerple_log(), sinusoidal()});
  table7.findings = {{.claim = "K-T7-1", .check = k_t7_1}};
  return {table4, table7};
}

}  // namespace farfield::sweep
