// Other kernels of the KERPLE paper, tables 5 and 6.

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/kerple_tables.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/order.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

// The paper had no memory for more than 16 L.
void k_t5_1(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
    if (m.is_published() && length > 16) break;
    e.within(against("3-para-log", "KERPLE-log", length),
             quotient(m, "3-para-log", "KERPLE-log", length), 1, m.pick(0.015, 0.03));
  }
  explain_order(m, e, "3-para-log", "KERPLE-log");
}

void k_t5_2(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
    not_above(m, e, "KERPLE-log", "bias+wht", length);
}

void weight_is_no_gain(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
    e.at_least(against("bias+wht", "KERPLE-log", length),
               quotient(m, "bias+wht", "KERPLE-log", length), 0.99);
  explain_order(m, e, "bias+wht", "KERPLE-log");
}

constexpr const char* kGaussian[] = {"1-para-wht", "2-para-wht", "2-para-bias", "3-para-bias"};

void k_t6_1(const Measured& m, Evidence& e) {
  for (const double length : {4.0, 8.0, 16.0}) {
    if (!m.is_published() && length != 8) continue;
    below(m, e, "1-para-wht", "2-para-bias", length);
    below(m, e, "2-para-wht", "3-para-bias", length);
  }
}

void k_t6_2(const Measured& m, Evidence& e) {
  for (const double length : compared(m, {1, 2, 4, 8, 16}))
    below(m, e, "2-para-wht", "1-para-wht", length);
  explain_order(m, e, "2-para-wht", "1-para-wht");
}

void k_t6_3(const Measured& m, Evidence& e) {
  for (const double length : compared(m, {1, 2, 4, 8, 16}))
    for (const char* other : kGaussian) below(m, e, "KERPLE-log", other, length);
}

void k_t6_4(const Measured& m, Evidence& e) {
  for (const char* arm : {"2-para-bias", "3-para-bias"})
    if (m.is_published())
      e.above(concat(arm, ": PPL 16 L / PPL L"), m.ratio(arm, 16), 10);
    else
      e.at_least(concat(arm, ": PPL 8 L / PPL L"), m.ratio(arm, 8), 1.3);
}

void k_t6_5(const Measured& m, Evidence& e) {
  for (const double length : {1.0, 2.0, 4.0, 8.0, 16.0})
    for (const char* arm : kGaussian)
      e.above(against(arm, "KERPLE-log", length), quotient(m, arm, "KERPLE-log", length), 1.1);
}

Experiment kerple_table5() {
  return {.place = 330,
          .id = "kerple/table5",
          .title = "do more complicated kernels help?",
          .source = concat(kKerple, "table 5"),
          .datasets = kKerpleTexts,
          .few = {"github", "topic"},
          .has_spread = true,
          .arms = {bias_wht(), kerple_log3(), kerple_log()},
          .measures = {non_overlapping(kKerpleLengths), last_token()},
          .outputs = {table_of_chunks(), table_of_last_token()},
          .findings = {{.claim = "K-T5-1", .check = k_t5_1, .asked = "within 3 percent"},
                       {.claim = "K-T5-2", .check = k_t5_2, .needs_steps = true},
                       {.claim = "kerple/table5/weight",
                        .check = weight_is_no_gain,
                        .statement = "a weight beside the bias is no more than 1 percent better "
                                     "than the log kernel"}},
          .reference = "kerple/table5",
          .reference_arm = "KERPLE-log",
          .marks = "K",
          .remarks = {kChunksFall}};
}

Experiment kerple_table6() {
  return {.place = 340,
          .id = "kerple/table6",
          .title = "Gaussian-like kernels: as a weight or as a bias?",
          .source = concat(kKerple, "table 6"),
          .datasets = kKerpleTexts,
          .few = {"github", "topic"},
          .has_spread = true,
          .arms = {gauss_wht1(), gauss_wht2(), gauss_bias2(), gauss_bias3(), kerple_log()},
          .measures = {non_overlapping({1, 2, 4, 8, 16}), last_token()},
          .outputs = {table_of_chunks(), table_of_last_token()},
          .findings = {{.claim = "K-T6-1",
                        .check = k_t6_1,
                        .on = Finding::On::text,
                        .asked = "the same at 8 L, on real text"},
                       {.claim = "K-T6-2", .check = k_t6_2, .asked = "the same beyond L"},
                       {.claim = "K-T6-3", .check = k_t6_3, .asked = "the same beyond L"},
                       {.claim = "K-T6-4",
                        .check = k_t6_4,
                        .on = Finding::On::text,
                        .asked = "at 8 L at least 1.3 times the value at L, on real text"},
                       {.claim = "K-T6-5", .check = k_t6_5}},
          .reference = "kerple/table6",
          .reference_arm = "KERPLE-log",
          .marks = "K",
          .remarks = {"The weight exp(-r d^2) starts with r from 0 to 1 and is never below 0.01: a "
                      "few tokens at any training length.",
                      kChunksFall}};
}

}  // namespace

std::vector<Experiment> kerple_kernels_rows() { return {kerple_table5(), kerple_table6()}; }

}  // namespace farfield::sweep
