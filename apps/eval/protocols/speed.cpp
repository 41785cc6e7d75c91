#include "apps/eval/protocols/speed.h"

#include <algorithm>
#include <chrono>

#include "apps/eval/batch_memory.h"
#include "apps/eval/protocol.h"
#include "apps/run/machine.h"
#include "apps/train/timed_step.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/device_info.h"

namespace farfield::eval {
namespace {

constexpr std::string_view kProtocol = "speed";
constexpr int64_t kFewestForPercentiles = 20;
constexpr int64_t kMemorySteps = 10;

double mib(int64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

// The end of the time limit.
class Deadline {
 public:
  explicit Deadline(double limit_s) : limit_s_(limit_s) {}
  bool is_over() const {
    return limit_s_ > 0 && std::chrono::duration<double>(Clock::now() - begin_).count() >= limit_s_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  double limit_s_;
  Clock::time_point begin_ = Clock::now();
};

// Steps of training or forward passes, with their names in quantities and messages.
struct Kind {
  std::string time_s;  // a quantity's name
  std::string plural;
  int64_t n_timed;
};

// Runs the warm-up, then the timed steps. Uses the machine's clock unless the options give another.
StepTimes warmed_times(const SpeedOptions& own, const Kind& kind,
                       const std::function<bool()>& step) {
  for (int64_t i = 0; i < own.warmup; ++i)
    if (!step()) return {};
  return time_steps(own.clock ? *own.clock : machine_clock(), kind.n_timed, step);
}

// Sets the failure of a cell that ran out of time, and keeps the times of finished steps.
void set_timeout(const SpeedOptions& own, const Kind& kind, const StepTimes& times,
                 LengthResult& to) {
  const bool is_empty = times.step_s.empty();
  set_failure(to, "TIMEOUT",
              concat("[eval:speed] TIMEOUT: expected ", kind.n_timed, " timed ", kind.plural,
                     " within ", own.time_limit, " s, got ", times.n_step(),
                     is_empty ? "" : concat(", ", times.step_s.median(), " s in the middle"),
                     "; a larger --time-limit or fewer of them"));
  if (is_empty) return;
  to.quantities = {{kind.time_s + "_partial", times.step_s.median()},
                   {concat("timed_", kind.plural), static_cast<double>(times.n_step())}};
}

// Sequences of a forward pass.
int64_t n_rows(const CommonOptions& common, int64_t length) {
  const int64_t tokens = common.batch_tokens > 0 ? common.batch_tokens : kMostBatchTokens;
  return std::max<int64_t>(1, tokens / length);
}

// Median and percentiles of a step.
void add_times(const Kind& kind, const StepTimes& times, LengthResult& to) {
  to.quantities.push_back({kind.time_s, times.step_s.median()});
  const bool is_single = times.block == 1;
  if (!is_single)
    to.notes.push_back(concat(kind.plural, " timed in blocks of ", times.block,
                              ": the resolution of the clock is more than 1 % of one"));
  if (times.step_s.size() >= kFewestForPercentiles) {
    to.quantities.push_back({kind.time_s + "_p10", times.step_s.quantile(0.1)});
    to.quantities.push_back({kind.time_s + "_p90", times.step_s.quantile(0.9)});
  } else {
    to.notes.push_back(concat("no percentiles: they need at least ", kFewestForPercentiles,
                              " timed ", is_single ? "" : "blocks of ", kind.plural, ", got ",
                              times.step_s.size()));
  }
}

// Growth of this process's resident memory since the start. Only on the CPU, where tensors lie in
// this process's memory.
class Resident {
 public:
  explicit Resident(const Device& device) {
    release_cached_memory(device);
    is_known_ =
        device.kind == Device::Kind::cpu && run::reset_peak_resident() && run::resident_bytes() > 0;
    before_ = run::resident_bytes();
  }
  bool is_known() const { return is_known_; }
  /// The peak since the start, minus the memory at the start.
  int64_t growth() const { return run::peak_resident_bytes() - before_; }

 private:
  bool is_known_;
  int64_t before_;
};

void time_training(const Subject& subject, const SpeedOptions& own, const train::StepShape& shape,
                   const Deadline& deadline, LengthResult& to) {
  ModelConfig config = subject.model.transformer->config();
  config.posenc = subject.model.transformer->encoding().canonical();
  const Kind kind{"train_step_s", "steps", own.timed_steps};
  const Resident resident(subject.model.device);
  try {
    train::TimedStep timed(config, shape, subject.model.transformer->compute_dtype(),
                           subject.model.device);
    const int64_t n_token = shape.batch_size * config.train_len;
    int64_t n_run = 0, peak = 0, growth = 0;
    const StepTimes times = warmed_times(own, kind, [&] {
      if (deadline.is_over()) return false;
      subject.session.pass(n_token);
      timed.run();
      if (++n_run > kMemorySteps) return true;
      peak = std::max(peak, timed.peak_bytes());
      growth = resident.growth();
      return true;
    });
    if (!times.is_whole) return set_timeout(own, kind, times, to);
    add_times(kind, times, to);
    to.quantities.push_back(
        {"train_tokens_per_s", static_cast<double>(n_token) / times.step_s.median()});
    to.quantities.push_back({"train_peak_mib", mib(peak)});
    if (resident.is_known()) to.quantities.push_back({"train_resident_mib", mib(growth)});
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    set_failure(
        to, "OOM",
        concat("[eval:speed] OOM: a training step of ", shape.batch_size, " sequences of length ",
               config.train_len, ": ", error.what(), "; a smaller --train-batch needs less"));
    to.quantities = {{"oom_length", static_cast<double>(config.train_len)}};
  }
}

// Of a model's parameters, with the copies that products read.
int64_t weight_bytes(const Transformer& model) {
  int64_t sum = 0;
  for (const Parameter& p : model.parameters()) sum += p.value.size_bytes() + p.value.kept_bytes();
  return sum;
}

void time_inference(const Subject& subject, const CommonOptions& common, const SpeedOptions& own,
                    const Deadline& deadline, LengthResult& to) {
  const Device& device = subject.model.device;
  const int64_t vocab_size = subject.model.transformer->config().vocab_size;
  const int64_t weights = weight_bytes(*subject.model.transformer);
  const int64_t batch = n_rows(common, to.length);
  const Scorer::Ids ids = train::made_up_tokens(batch * to.length, vocab_size);

  const Kind kind{"infer_pass_s", "passes", own.timed_passes};
  const Resident resident(device);
  const int64_t held = memory_stats(device).current_bytes;
  reset_peak_memory(device);
  synchronize(device);
  const StepTimes times = warmed_times(own, kind, [&] {
    if (deadline.is_over()) return false;
    subject.model.scorer.score(ids, ids,
                               batch);  // values on the host: the device has been waited for
    return true;
  });
  if (!times.is_whole) return set_timeout(own, kind, times, to);
  to.quantities = {
      {"infer_tokens_per_s", static_cast<double>(batch * to.length) / times.step_s.median()}};
  add_times(kind, times, to);
  to.quantities.push_back(
      {"infer_peak_mib", mib(memory_stats(device).peak_bytes - held + weights)});
  if (resident.is_known())
    to.quantities.push_back({"infer_resident_mib", mib(resident.growth() + weights)});
}

}  // namespace

void add_options(cli::Options& options, SpeedOptions& own) {
  options.group("Speed and memory (made-up tokens; --batch-tokens for inference)")
      .add("warmup", own.warmup, "N",
           "training steps, and forward passes at each length, before the timed ones")
      .add("timed-steps", own.timed_steps, "N",
           "timed training steps; percentiles need at least 20")
      .add("timed-passes", own.timed_passes, "N",
           "timed forward passes at each length; percentiles need at least 20")
      .add("train-batch", own.batch, "N", "sequences of a step (default: as in training)")
      .add("time-limit", own.time_limit, "S",
           "time limit in seconds; unfinished cells become TIMEOUT (0: no limit)");
}

void check(const SpeedOptions& own) {
  require<ConfigError>(own.warmup >= 0, "eval:speed", "bad_argument: expected warmup >= 0, got ",
                       own.warmup);
  check_positive(kProtocol, "timed-steps", own.timed_steps);
  check_positive(kProtocol, "timed-passes", own.timed_passes);
  if (own.batch) check_positive(kProtocol, "train-batch", *own.batch);
  require<ConfigError>(own.time_limit >= 0, "eval:speed",
                       "bad_argument: expected time-limit >= 0, got ", own.time_limit);
}

ProtocolResult speed(const Subject& subject, const CommonOptions& common, const SpeedOptions& own) {
  subject.model.inside(kProtocol);  // refuses a stand-in
  train::StepShape shape = subject.model.step;
  if (own.batch) shape.batch_size = *own.batch;
  if (shape.batch_size % shape.accumulate != 0) shape.accumulate = 1;
  ProtocolResult result;
  result.protocol = kProtocol;
  result.parameters = concat(
      "batch=", shape.batch_size, " accumulate=", shape.accumulate, " pieces=", shape.n_piece(),
      " checkpointing=", shape.checkpointing ? "on" : "off", " warmup=", own.warmup,
      " steps=", own.timed_steps, " passes=", own.timed_passes,
      " batch_tokens=", common.batch_tokens, " machine=", run::machine_name(subject.model.device),
      " device=", subject.model.device, " threads=", thread_count());
  const Deadline deadline(own.time_limit);
  measure_lengths(result, subject, {0},
                  [&](LengthResult& to) { time_training(subject, own, shape, deadline, to); });
  measure_lengths(result, subject, common.lengths,
                  [&](LengthResult& to) { time_inference(subject, common, own, deadline, to); });
  return result;
}

Protocol speed_row() {
  return {.place = 11,
          .name = std::string(kProtocol),
          .help =
              "time and memory of training steps and of forward passes on this machine, several "
              "runs against the first",
          .source = "KERPLE (arXiv:2205.09921) tables 4 and 7",
          .synonyms = {"timing"},
          .has_lengths = true,
          .has_training = true,
          .needs_model = true,
          .amounts = {{"timed-steps", Amount::timings}, {"timed-passes", Amount::timings}},
          .add_options = add_own<SpeedOptions>,
          .check = check_own<SpeedOptions>,
          .run =
              [](const Subject& subject, const EvalOptions& eval) {
                return speed(subject, eval.common, eval.own<SpeedOptions>());
              },
          .work =
              [](const EvalOptions& eval, const WorkSubject& subject, int64_t length) {
                const auto& own = eval.own<SpeedOptions>();
                const int64_t n = own.warmup + (length == 0 ? own.timed_steps : own.timed_passes);
                const int64_t step_tokens =
                    own.batch ? *own.batch * subject.train_len : subject.step_tokens;
                const int64_t tokens =
                    length == 0 ? step_tokens : n_rows(eval.common, length) * length;
                return static_cast<double>(n) * static_cast<double>(tokens);
              }};
}

}  // namespace farfield::eval
