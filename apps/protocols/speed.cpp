#include "apps/protocols/speed.h"

#include <algorithm>
#include <chrono>

#include "apps/batch_memory.h"
#include "apps/machine.h"
#include "apps/timing.h"
#include "apps/trainee.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/random.h"
#include "engine/device_info.h"

namespace farfield::apps {
namespace {

constexpr std::string_view kName = "speed";
constexpr int64_t kFewestForPercentiles = 20;
constexpr int64_t kMemorySteps = 10;

double mib(int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

// What is left of the time limit.
class Deadline {
 public:
  explicit Deadline(double limit_s) : limit_s_(limit_s) {}
  /// Ends a cell whose time is over.
  bool is_over(LengthResult& to, const char* what, const Samples& timed, int64_t n) const {
    const double spent_s = std::chrono::duration<double>(Clock::now() - begin_).count();
    if (limit_s_ == 0 || spent_s < limit_s_) return false;
    set_failure(to, "TIMEOUT",
                concat("[eval:speed] TIMEOUT: expected ", n, " timed ", what, " within ", limit_s_,
                       " s, got ", timed.size(),
                       timed.empty() ? "" : concat(", ", timed.median(), " s in the middle"),
                       "; a larger --time-limit or fewer of them"));
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  double limit_s_;
  Clock::time_point begin_ = Clock::now();
};

void time_training(const Subject& subject, const SpeedOptions& own, const StepShape& shape,
                   const Deadline& deadline, LengthResult& to) {
  ModelConfig config = subject.model->config();
  config.posenc = subject.model->encoding().canonical();
  release_cached_memory(subject.device);
  const bool has_resident =
      subject.device.kind == Device::Kind::cpu && reset_peak_resident() && resident_bytes() > 0;
  const int64_t resident = resident_bytes();
  Trainee trainee(config, shape, subject.model->compute_dtype(), subject.device);
  const int64_t n_token = shape.batch_size * config.train_len;

  Samples step_s;
  int64_t peak = 0, peak_resident = 0;
  for (int64_t step = 1; step <= own.warmup + own.timed_steps; ++step) {
    if (deadline.is_over(to, "steps", step_s, own.timed_steps)) return;
    if (subject.watch) subject.watch(n_token);
    const double time = trainee.run();
    if (step > own.warmup) step_s.add(time);
    if (step > kMemorySteps) continue;
    peak = std::max(peak, trainee.peak_bytes());
    peak_resident = peak_resident_bytes();
  }
  to.quantities.push_back({"train_step_s", step_s.median()});
  if (step_s.size() >= kFewestForPercentiles) {
    to.quantities.push_back({"train_step_s_p10", step_s.quantile(0.1)});
    to.quantities.push_back({"train_step_s_p90", step_s.quantile(0.9)});
  } else {
    to.notes.push_back(concat("no percentiles: they need at least ", kFewestForPercentiles,
                              " timed steps, got ", step_s.size()));
  }
  to.quantities.push_back({"train_tokens_per_s", static_cast<double>(n_token) / step_s.median()});
  to.quantities.push_back({"train_peak_mib", mib(peak)});
  if (has_resident) to.quantities.push_back({"train_resident_mib", mib(peak_resident - resident)});
}

void time_inference(const Subject& subject, const CommonOptions& common, const SpeedOptions& own,
                    const Deadline& deadline, LengthResult& to) {
  const Device& device = subject.device;
  const int64_t vocab_size = subject.model->config().vocab_size;
  int64_t weights = 0;
  for (const Parameter& p : subject.model->parameters()) weights += p.value.size_bytes();
  int64_t batch = std::max<int64_t>(
      1, (common.batch_tokens > 0 ? common.batch_tokens : kMostBatchTokens) / to.length);
  const Random random{1, stream_of("bench tokens")};
  Scorer::Ids ids(static_cast<size_t>(batch * to.length));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>(random.below(i, static_cast<uint64_t>(vocab_size)));

  Samples pass_s;
  const int64_t held = memory_stats(device).current_bytes;
  reset_peak_memory(device);
  for (int64_t pass = -2; pass < own.timed_passes; ++pass) {
    if (deadline.is_over(to, "passes", pass_s, own.timed_passes)) return;
    synchronize(device);
    const double time = seconds([&] {
      subject.scorer.score(ids, ids, batch);  // values on the host: the device has been waited for
    });
    if (pass >= 0) pass_s.add(time);
  }
  to.quantities = {{"infer_tokens_per_s", static_cast<double>(batch * to.length) / pass_s.median()},
                   {"infer_peak_mib", mib(memory_stats(device).peak_bytes - held + weights)}};
}

}  // namespace

void add_options(Options& options, SpeedOptions& own) {
  options.group("Speed and memory (made-up tokens; --batch-tokens for inference)")
      .add("warmup", own.warmup, "N", "training steps before those that are timed")
      .add("timed-steps", own.timed_steps, "N",
           "training steps that are timed; percentiles need 20 at least")
      .add("timed-passes", own.timed_passes, "N", "forward passes that are timed at each length")
      .add("train-batch", own.batch, "N", "sequences of a step (default: as in training)")
      .add("time-limit", own.time_limit, "S",
           "seconds for all of it; what is not done by then is TIMEOUT. 0: none");
}

void check(const SpeedOptions& own) {
  require<ConfigError>(own.warmup >= 0, "eval:speed", "bad_argument: expected warmup >= 0, got ",
                       own.warmup);
  check_positive(kName, "timed-steps", own.timed_steps);
  check_positive(kName, "timed-passes", own.timed_passes);
  if (own.batch) check_positive(kName, "train-batch", *own.batch);
  require<ConfigError>(own.time_limit >= 0, "eval:speed",
                       "bad_argument: expected time-limit >= 0, got ", own.time_limit);
}

ProtocolResult speed(const Subject& subject, const CommonOptions& common, const SpeedOptions& own) {
  check_common(kName, common);
  check(own);
  require<ConfigError>(subject.model != nullptr, "eval:speed",
                       "bad_argument: expected a model, got scores alone");
  StepShape shape = subject.step;
  if (own.batch) shape.batch_size = *own.batch;
  if (shape.batch_size % shape.accumulate != 0) shape.accumulate = 1;
  ProtocolResult result;
  result.protocol = kName;
  result.parameters =
      concat("batch=", shape.batch_size, " accumulate=", shape.accumulate,
             " checkpointing=", shape.checkpointing ? "on" : "off", " warmup=", own.warmup,
             " steps=", own.timed_steps, " passes=", own.timed_passes,
             " batch_tokens=", common.batch_tokens, " machine=", machine_name(subject.device),
             " device=", subject.device, " threads=", thread_count());
  const Deadline deadline(own.time_limit);
  measure_lengths(result, subject, {0},
                  [&](LengthResult& to) { time_training(subject, own, shape, deadline, to); });
  measure_lengths(result, subject, common.lengths,
                  [&](LengthResult& to) { time_inference(subject, common, own, deadline, to); });
  return result;
}

}  // namespace farfield::apps
