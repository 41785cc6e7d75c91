#include "apps/bench/step_parts.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "apps/analysis/timing.h"
#include "apps/bench/report.h"
#include "engine/base/parallel.h"
#include "engine/base/text.h"
#include "engine/work_clock.h"

namespace farfield::bench {
namespace {

constexpr size_t kPhases = 3;
// Bias and GELU are a part of the kernels of products.
constexpr const char *kProducts = "products, bias, GELU", *kAttention = "attention",
                     *kNorms = "norms", *kHead = "head, cross entropy", *kOptimizer = "optimizer",
                     *kRest = "nodes, allocation";

// The part of a kernel, by the file of the sources that asks for it.
std::string part_of(const WorkPlace& place) {
  static const std::map<std::string, std::string> names = {
      {"matmul", kProducts},
      {"attention", kAttention},
      {"norm", kNorms},
      {"pointwise", "pointwise"},
      {"cross_entropy", kHead},
      {"optim", kOptimizer},
      {"split_heads", kAttention},
      {"view", "fills, casts, copies"},
      {"tensor", "fills, casts, copies"},
      {"autograd", "sums of gradients"},
      {"tree_sum", "sums of gradients"},
      {"storage", kRest},
      {"device_info", kRest},
  };
  const std::string stem = std::filesystem::path(place.file).stem().string();
  const auto found = names.find(stem);
  return found == names.end() ? stem : found->second;
}

using Phases = std::array<analysis::Samples, kPhases>;

}  // namespace

StepTimeline timeline_of(train::TimedStep& step, int64_t rounds) {
  std::map<std::string, Phases> kernels;  // by part; the rest has the whole phases
  analysis::Samples parallel_share, n_busy;
  WorkClock clock;
  step.run_parts();  // from here on memory is there
  clock.take();
  for (int64_t round = 0; round < rounds; ++round) {
    std::map<std::string, std::array<double, kPhases>> here;
    time_threads(true);
    const std::array<double, kPhases> whole = step.run_parts([&](size_t phase) {
      for (const WorkClock::Work& work : clock.take())
        here[part_of(work.place)][phase] += work.seconds;
    });
    time_threads(false);
    const ThreadTimes threads = thread_times();
    parallel_share.add(threads.call_s / (whole[0] + whole[1] + whole[2]));
    n_busy.add(threads.busy_s / threads.call_s);
    here[kRest] = whole;
    for (const auto& [name, times] : here) {
      if (name == kRest) continue;
      for (size_t phase = 0; phase < kPhases; ++phase) here[kRest][phase] -= times[phase];
    }
    for (const auto& [name, times] : here)
      for (size_t phase = 0; phase < kPhases; ++phase) kernels[name][phase].add(times[phase]);
  }
  StepTimeline timeline = {.parallel_share = parallel_share.median(), .n_busy = n_busy.median()};
  for (const auto& [name, phases] : kernels) {
    StepPartTime& part = timeline.parts.emplace_back(StepPartTime{name});
    for (size_t phase = 0; phase < kPhases; ++phase) part.time_s[phase] = phases[phase].median();
    timeline.step_s += part.total();
  }
  std::sort(timeline.parts.begin(), timeline.parts.end(),
            [](const StepPartTime& a, const StepPartTime& b) {
              if ((a.name == kRest) != (b.name == kRest)) return b.name == kRest;
              return a.total() > b.total();
            });
  return timeline;
}

double least_time_of(const std::string& part, const ModelConfig& config, int64_t batch_size,
                     DType dtype, double product_gflop, double peak_gflops, double copy_s) {
  const auto n = static_cast<double>(batch_size * config.train_len);
  const auto d = static_cast<double>(config.d_model);
  const auto n_layer = static_cast<double>(config.n_layer);
  const auto bytes_each = static_cast<double>(size_of(dtype));
  const auto n_logit = n * static_cast<double>(config.vocab_size);
  const double head_flop = 6 * d * n_logit;
  double flop = 0, bytes = 0;
  if (part == kProducts) {
    flop = 1e9 * product_gflop - head_flop;
  } else if (part == kAttention) {  // two products and five of the gradient, of the causal half
    const double keys = static_cast<double>(config.train_len + 1) / (config.sees_later ? 1 : 2);
    flop = n_layer * 7 * 2 * d * n * keys;
    bytes = n_layer * n * d * (4 + 8) * bytes_each;
  } else if (part == kNorms) {  // x, branch, sum, y; sum, dy, dsum, dx
    bytes = (2 * n_layer + (config.has_final_norm ? 1 : 0)) * n * d * (4 + 4) * bytes_each;
  } else if (part == kHead) {  // three products; logits in float32, and their gradient
    flop = head_flop;
    bytes = n_logit * 2 * 4;
  } else if (part == kOptimizer) {  // gradient, weight and moments in, three out; the norm
    bytes = static_cast<double>(parameter_count(config)) * (28 + 4);
  }
  return std::max(peak_gflops > 0 ? flop / (1e9 * peak_gflops) : 0, bytes / copy_s);
}

cli::Table parts_table() {
  return {"parts",
          {"encoding",
           "part",
           {"forward", "ms"},
           {"backward", "ms"},
           {"update", "ms"},
           {"all", "ms"},
           {"of step", "share of 1"},
           {"limit", "ms"},
           {"limit / all", "share of 1"}}};
}

namespace {

// Memory was not the limit, since the part's data were in a cache.
bool is_reached(double least_s, const StepPartTime& part) { return least_s > part.total(); }

}  // namespace

void add_parts(cli::Table& table, const std::string& posenc, const StepTimeline& timeline,
               const std::vector<double>& least_s) {
  const auto time = [](double s) { return s > 0 ? milliseconds(s) : cli::Cell(); };
  std::array<double, kPhases> phases = {};
  for (size_t i = 0; i < timeline.parts.size(); ++i) {
    const StepPartTime& part = timeline.parts[i];
    for (size_t phase = 0; phase < kPhases; ++phase) phases[phase] += part.time_s[phase];
    table.rows.push_back({posenc, part.name, time(part.time_s[0]), time(part.time_s[1]),
                          time(part.time_s[2]), time(part.total()),
                          percent(part.total() / timeline.step_s), time(least_s[i]),
                          is_reached(least_s[i], part) ? "in cache"
                          : least_s[i] > 0             ? percent(least_s[i] / part.total())
                                                       : cli::Cell()});
  }
  table.rows.push_back({posenc, "all", time(phases[0]), time(phases[1]), time(phases[2]),
                        time(timeline.step_s), percent(1), cli::Cell(), cli::Cell()});
}

std::string threads_text(const StepTimeline& timeline, int64_t n_thread) {
  const auto share = [](double of) { return fixed(100 * of, 1) + " %"; };
  return concat(n_thread, n_thread == 1 ? " thread" : " threads", ": ",
                share(timeline.parallel_share),
                " of the step is work for all of them, in which they are busy ",
                share(timeline.n_busy / static_cast<double>(n_thread)), " of the time");
}

}  // namespace farfield::bench
