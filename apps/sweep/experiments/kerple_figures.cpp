// What KERPLE's models learn and where they gain: kernels by distance, perplexity by position and
// effective lengths. Figures 2 to 7.

#include <algorithm>
#include <cmath>

#include "apps/sweep/arms.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr const char* kPaper = "KERPLE (arXiv:2205.09921) ";
constexpr const char *kLog = "KERPLE-log", *kPower = "KERPLE-power", *kAlibi = "ALiBi";
constexpr const char* kMasked = "KERPLE-log, masked at L";
constexpr double kFarthest = 40;  // units: 20480 tokens, where figure 6 ends

const Measure kKernels = {.key = "P8", .protocol = "effective-length"};

double tokens(const Measured& m, double units) {
  return static_cast<double>(tokens_of(m.scale(), units));
}
bool is_far(const Measured& m) { return m.dataset().is_synthetic || m.is_published(); }

Arm in_group(Arm arm) {
  arm.group = arm.label;
  return arm;
}

// The kernels of all heads.
std::vector<eval::Series> kernels(const Measured& all_seeds, const char* label) {
  const Measured m = all_seeds.first_seed();
  std::vector<eval::Series> all;
  const PlannedArm* const arm = m.arm(label);
  if (arm == nullptr) return all;
  for (const std::string& name : m.series_names(*arm, "P8"))
    if (name.rfind("kernel ", 0) == 0) all.push_back(m.series(*arm, "P8", name));
  return all;
}

struct Range {
  double least = std::nan(""), most = std::nan("");
};
// The range of the kernels over the heads, at a distance in units.
Range kernels_at(const Measured& m, const char* label, double distance) {
  Range range;
  for (const eval::Series& kernel : kernels(m, label)) {
    const double k = value_at(kernel, tokens(m, distance));
    range.least = std::fmin(range.least, k);
    range.most = std::fmax(range.most, k);
  }
  return range;
}

void k_f3_1(const Measured& m, Evidence& e) {
  const double log = kernels_at(m, kLog, 8).least;
  for (const char* arm : {kPower, kAlibi})
    e.below(concat(arm, ": the steepest head at 8 L"), kernels_at(m, arm, 8).least, log);
}

// Effective lengths of the heads in tokens, in order; infinite where not reached.
std::vector<double> effective_lengths(const Measured& all_seeds, const char* label) {
  const Measured m = all_seeds.first_seed();
  std::vector<double> lengths;
  const PlannedArm* const arm = m.arm(label);
  for (int head = 1; arm != nullptr; ++head) {
    const double length = m.value(*arm, "P8", concat("eff h", head));
    if (std::isnan(length)) break;
    lengths.push_back(length);
  }
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

void k_f2_1(const Measured& m, Evidence& e) {
  const double flattest = kernels_at(m, kLog, 4).most;
  e.above("KERPLE-log: the flattest head at 4 L", flattest, -2);
  const std::vector<double> lengths = effective_lengths(m, kLog);
  if (flattest <= -2 && !lengths.empty())
    e.note(concat("its flattest head is at -2 after ", lengths.back(), " tokens"));
}

double count(const std::vector<double>& lengths, double most) {
  return static_cast<double>(std::upper_bound(lengths.begin(), lengths.end(), most) -
                             lengths.begin());
}

// The most by which one count curve is above another from `first` units to the end of the axis;
// NaN where one is missing.
double excess(const Measured& m, const std::vector<double>& a, const std::vector<double>& b,
              double first) {
  if (a.empty() || b.empty()) return std::nan("");
  const double least = tokens(m, first), most = tokens(m, kFarthest);
  double excess = count(a, least) - count(b, least);
  for (const double x : a)  // a curve gains on the other where it climbs
    if (x >= least && x <= most) excess = std::max(excess, count(a, x) - count(b, x));
  return excess;
}

void k_f6_1(const Measured& m, Evidence& e) {
  const std::vector<double> own = effective_lengths(m, kAlibi);
  double slope = std::nan("");
  for (const eval::Series& kernel : kernels(m, kAlibi))
    slope = std::fmin(slope, -value_at(kernel, 1));
  e.within("ALiBi: where the last head is", own.empty() ? std::nan("") : own.back(),
           std::floor(2 / slope) + 1, 0);
  for (const PlannedDataset& other : m.plan().datasets) {
    if (&other == &m.dataset()) break;
    const std::vector<double> theirs = effective_lengths(m.on(other), kAlibi);
    if (own.empty() || theirs.empty())
      e.missing("ALiBi: effective lengths on " + other.corpus);
    else
      e.holds("ALiBi: effective lengths against those on " + other.corpus, own == theirs,
              own.back(), "the same");
  }
}

void k_f6_2(const Measured& m, Evidence& e) {
  e.at_most("heads within a distance of 8 L or more: the most that log has beyond power",
            excess(m, effective_lengths(m, kLog), effective_lengths(m, kPower), 8), 0);
}

void k_f6_3(const Measured& m, Evidence& e) {
  const PlannedDataset* const web = m.dataset_named("openwebtext2");
  if (web == nullptr || web == &m.dataset()) return;
  for (const char* arm : {kLog, kPower})
    e.at_most(concat(arm, ": the most heads by which ", web->corpus, " is above"),
              excess(m, effective_lengths(m.on(*web), arm), effective_lengths(m, arm), 0), 0);
}

eval::Series by_position(const Measured& m, const char* label, const char* name) {
  const PlannedArm* const arm = m.arm(label);
  return arm == nullptr ? eval::Series{} : m.series(*arm, "P4", name);
}
eval::Series smoothed_curve(const Measured& m, const char* label) {
  return by_position(m, label, "smoothed perplexity");
}

// Mean nll over the positions after `first` up to `last`, in units.
double mean_nll(const Measured& m, const char* label, double first, double last) {
  const eval::Series curve = by_position(m, label, "perplexity");
  double sum = 0, n = 0;
  for (size_t i = 0; i < curve.y.size(); ++i) {
    if (curve.x[i] <= tokens(m, first) || curve.x[i] > tokens(m, last)) continue;
    sum += std::log(curve.y[i]);
    ++n;
  }
  return sum / n;
}

// The share of these positions at which one smoothed curve is below another.
double share_below(const Measured& m, const char* a, const char* b, double first, double last) {
  const eval::Series low = smoothed_curve(m, a), high = smoothed_curve(m, b);
  double below = 0, n = 0;
  for (size_t i = 0; i < low.y.size() && low.x == high.x; ++i) {
    if (low.x[i] <= tokens(m, first) || low.x[i] > tokens(m, last)) continue;
    below += low.y[i] < high.y[i] ? 1 : 0;
    ++n;
  }
  return below / n;
}

// "Almost all positions" of a curve.
constexpr double kAlmostAll = 0.95;

// Below `small` as a mean, of differences on the same sequences.
void k_f5_1(const Measured& m, Evidence& e) {
  if (m.is_published())
    e.above("positions beyond L where log is below masked", share_below(m, kLog, kMasked, 1, 8),
            kAlmostAll);
  else
    e.at_most("mean nll from 2 L to 8 L, log / masked",
              mean_nll(m, kLog, 2, 8) / mean_nll(m, kMasked, 2, 8), 0.995);
}

void k_f5_2(const Measured& m, Evidence& e) {
  e.below("log: slope of the nll over the last half, nats per unit of ln t",
          m.value(kLog, "P4", "late_slope"), 0)
      .half_width =
      (m.value(kLog, "P4", "late_slope_high") - m.value(kLog, "P4", "late_slope_low")) / 2;
}

void k_f5_3(const Measured& m, Evidence& e) {
  if (m.is_published())
    e.above("positions where ALiBi is above masked", share_below(m, kMasked, kAlibi, 0, 8),
            kAlmostAll);
  else
    e.above("mean nll, ALiBi / masked", mean_nll(m, kAlibi, 0, 8) / mean_nll(m, kMasked, 0, 8), 1);
}

void k_f5_4(const Measured& m, Evidence& e) {
  e.below("mean nll from L to 6 L, T5 / masked",
          mean_nll(m, "T5", 1, 6) / mean_nll(m, kMasked, 1, 6), 1);
  const double share = share_below(m, "T5", kMasked, 6, 8);
  e.above("positions beyond 6 L where T5 is below masked", share, 0);
  e.below("positions beyond 6 L where T5 is below masked", share, 1);
  e.above("mean nll beyond L, T5 / log", mean_nll(m, "T5", 1, 8) / mean_nll(m, kLog, 1, 8), 1);
}

// Smoothed perplexity at 32 L over that at 2 L.
double explosion(const Measured& m, const char* label) {
  const eval::Series curve = smoothed_curve(m, label);
  return value_at(curve, tokens(m, 32)) / value_at(curve, tokens(m, 2));
}

// Failures show on any text, gains on text that rewards a long context.
void k_f7_1(const Measured& m, Evidence& e) {
  constexpr double kExplosion = 1.2;
  if (m.is_published() || !m.dataset().is_synthetic)
    e.at_least("T5: PPL 32 L / PPL 2 L", explosion(m, "T5"), kExplosion);
  e.below("ALiBi: PPL 32 L / PPL 2 L", explosion(m, kAlibi), kExplosion);
  if (!is_far(m)) return;
  e.above("positions beyond L where log is below masked", share_below(m, kLog, kMasked, 1, 32),
          0.5);
  e.above("mean nll beyond L, ALiBi / masked",
          mean_nll(m, kAlibi, 1, 32) / mean_nll(m, kMasked, 1, 32), 1);
}

Output kernel_curves(const char* label) {
  return {.form = Output::Form::series,
          .measure = "P8",
          .quantity = "kernel",
          .caption = concat("bias of each head of ", label),
          .is_log_x = false,
          .may_log_y = false,
          .most_x = kFarthest,
          .groups = {label},
          .is_of_one_seed = true};
}

Experiment kernel_figure(const char* id, int place, const char* figure, std::vector<Arm> arms) {
  Experiment e = {
      .place = place,
      .id = id,
      .title = concat("the kernels that ", arms.front().label, " has after training"),
      .source = concat(kPaper, "figure ", figure),
      .datasets = {"github"},
      .measures = {kKernels},
      .outputs = {kernel_curves(arms.front().label.c_str())},
      .remarks = {"One model, not the mean of several: trained heads start at random."}};
  for (const Arm& arm : arms) e.arms.push_back(in_group(arm));
  return e;
}

Experiment kerple_fig2() {
  Experiment e = kernel_figure("kerple/fig2", 380, "2", {kerple_log()});
  e.findings = {{.claim = "K-F2-1", .check = k_f2_1}};
  return e;
}

Experiment kerple_fig3() {
  Experiment e = kernel_figure("kerple/fig3", 390, "3", {kerple_power(), kerple_log(), alibi()});
  e.findings = {{.claim = "K-F3-1", .check = k_f3_1}};
  return e;
}

Experiment kerple_fig4() { return kernel_figure("kerple/fig4", 400, "4", {alibi()}); }

Experiment position_figure(const char* id, int place, const char* figure, double length) {
  Arm masked = kerple_log();
  masked.label = kMasked;
  masked.encoding.clear();
  masked.measured_posenc = "kerple_log + window(w=512)";
  return {.place = place,
          .id = id,
          .title = concat("perplexity by position up to ", length_text(length)),
          .source = concat(kPaper, "figure ", figure),
          .datasets = {"github"},
          .few = {"github", "topic"},
          .arms = {kerple_log(), masked, kerple_power(), alibi(), t5()},
          .measures = {{.key = "P4", .protocol = "position-wise", .lengths = {length}}},
          .outputs = {{.form = Output::Form::series,
                       .measure = "P4",
                       .quantity = "smoothed perplexity",
                       .caption = "perplexity by position, averaged over neighbours",
                       .is_log_x = false},
                      {.form = Output::Form::rows,
                       .measure = "P4",
                       .quantities = {"perplexity", "perplexity@last", "late_slope",
                                      "late_slope_low", "late_slope_high"}}},
          .remarks = {"Masked at L: the same trained model, but in every layer a query sees the "
                      "last L tokens alone; its bias stays. The paper does not define its window "
                      "further."}};
}

Experiment kerple_fig5() {
  using On = Finding::On;
  Experiment e = position_figure("kerple/fig5", 410, "5", 8);
  e.findings = {{.claim = "K-F5-1",
                 .check = k_f5_1,
                 .on = On::far,
                 .asked = "its mean nll from 2 L to 8 L is at most 0.995 of that of log masked, on "
                          "text that rewards a long context"},
                {.claim = "K-F5-2",
                 .check = k_f5_2,
                 .on = On::far,
                 .asked = "the same on text that rewards a long context"},
                {.claim = "K-F5-3",
                 .check = k_f5_3,
                 .on = On::far,
                 .asked = "its mean nll is above that of log masked, on text that rewards a long "
                          "context"},
                {.claim = "K-F5-4", .check = k_f5_4, .on = On::far}};
  return e;
}

Experiment kerple_fig6() {
  return {.place = 430,
          .id = "kerple/fig6",
          .title = "how many heads attend how far?",
          .source = concat(kPaper, "figure 6, appendix A.5"),
          .datasets = {"openwebtext2", "github", "arxiv"},
          .few = {"github", "topic"},
          .arms = {kerple_log(), kerple_power(), alibi()},
          .measures = {kKernels},
          .outputs = {{.form = Output::Form::series,
                       .measure = "P8",
                       .quantity = "heads with at most this effective length",
                       .may_log_y = false,
                       .most_x = kFarthest,
                       .is_of_one_seed = true,
                       .is_count = true}},
          .findings = {{.claim = "K-F6-1", .check = k_f6_1},
                       {.claim = "K-F6-2", .check = k_f6_2},
                       {.claim = "K-F6-3", .check = k_f6_3}}};
}

Experiment kerple_fig7() {
  Experiment e = position_figure("kerple/fig7", 420, "7, appendix A.6", 32);
  e.findings = {{.claim = "K-F7-1",
                 .check = k_f7_1,
                 .asked = "T5's perplexity at 32 L is at least 1.2 times that at 2 L on real text, "
                          "ALiBi's is not; the order of log, masked and ALiBi on text that rewards "
                          "a long context"}};
  return e;
}

}  // namespace

std::vector<Experiment> kerple_figures_rows() {
  return {kerple_fig2(), kerple_fig3(), kerple_fig4(), kerple_fig5(), kerple_fig7(), kerple_fig6()};
}

}  // namespace farfield::sweep
