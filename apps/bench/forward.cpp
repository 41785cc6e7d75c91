#include <algorithm>
#include <memory>

#include "apps/bench/commands.h"
#include "apps/bench/copy_rate.h"
#include "apps/bench/encodings.h"
#include "apps/bench/options.h"
#include "apps/bench/report.h"
#include "apps/bench/source.h"
#include "apps/bench/weights_read.h"
#include "apps/train/step_flop.h"
#include "apps/train/timed_step.h"
#include "engine/autograd.h"
#include "engine/device_info.h"
#include "layers/transformer.h"

namespace farfield::bench {
namespace {

// Sequences of made-up tokens through a model with initial weights, to the loss of each token.
class ForwardPass {
 public:
  ForwardPass(const ModelConfig& config, const Shape& shape, DType dtype, const Device& device)
      : device_(device),
        before_(memory_stats(device).current_bytes),
        model_(config, /*seed=*/1, dtype, device),
        ids_(Tensor::from(train::made_up_tokens(shape.numel(), config.vocab_size), shape, device)) {
    model_.keep_weight_copies();
  }

  /// Seconds; waits for the device before each look at the clock.
  double run() {
    const NoGrad no_grad;
    reset_peak_memory(device_);
    synchronize(device_);
    const double time = analysis::seconds([&] {
      model_.nll(ids_, ids_);
      synchronize(device_);
    });
    peak_bytes_ = memory_stats(device_).peak_bytes - before_;
    return time;
  }
  /// Peak of weights and activations together in the latest run, from the allocator.
  int64_t peak_bytes() const { return peak_bytes_; }
  int64_t weight_bytes() const { return weight_bytes_read(model_); }

 private:
  Device device_;
  int64_t before_, peak_bytes_ = 0;
  Transformer model_;
  Tensor ids_;
};

// The least time of a pass: of its products' flop at the peak, or of its weights' bytes at the rate
// of a copy.
struct ForwardLimit {
  double arithmetic_s = 0, memory_s = 0;  ///< no arithmetic: the peak is not known

  ForwardLimit(double gflop, double peak_gflops, int64_t n_byte, double copy_s)
      : arithmetic_s(peak_gflops > 0 ? gflop / peak_gflops : 0),
        memory_s(static_cast<double>(n_byte) / copy_s) {}

  double least_s() const { return arithmetic_s > 0 ? std::max(arithmetic_s, memory_s) : 0; }
  cli::Cell time() const { return least_s() > 0 ? milliseconds(least_s()) : cli::Cell(); }
  cli::Cell share(double time_s) const {
    return least_s() > 0 ? percent(least_s() / time_s) : cli::Cell();
  }
  cli::Cell bound() const {
    if (least_s() == 0) return {};
    return arithmetic_s > memory_s ? "arithmetic" : "memory";
  }
};

}  // namespace

int bench_forward(int argc, const char* const* argv, std::ostream& to) {
  BenchOptions common;
  ModelOptions model;
  std::vector<int64_t> lengths = {512, 2048, 8192};
  std::vector<std::string> posenc = {"alibi"};
  cli::Options options(
      "bench forward",
      "Times a model's forward pass without gradients, to the loss of each token, as "
      "an evaluation takes it. `peak MiB` is the most memory of weights, of their copies that "
      "products read, and of activations: no part of it is as large as length times length or "
      "length times vocabulary. `limit` is the time of the products' flop at the peak, attention's "
      "of all earlier tokens among them, or of reading all weights at the rate of a copy: "
      "whichever is longer bounds the pass. Under a bias that decays, products of far pairs whose "
      "probability is 0 are left out on the CPU, so that `of limit` can be above 100 %.");
  model.add_to(options, "what encodings take for the length in training (default: the preset's)",
               "sequences at a time (default: 1)");
  options.add("lengths", lengths, "N,...", "sequence lengths")
      .add("posenc", posenc, "EXPR,...", "positional encodings, or all; may be repeated");
  common.add_to(options);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  common.apply();
  const int64_t batch_size = model.batch.value_or(1);
  require<ConfigError>(batch_size >= 1, "bench", "expected batch >= 1, got ", batch_size);
  check_lengths(lengths);

  ModelConfig config = model.config();
  cli::Printout page(to, "bench forward", common.table.is_json);
  std::ostream& out = page.text();
  const Peak peak = common.peak();
  out << model.preset << ", " << fixed(static_cast<double>(parameter_count(config)) * 1e-6, 1)
      << "M parameters, " << batch_size << " at a time, vocabulary " << config.vocab_size << ", "
      << *common.precision << "; " << peak.line << "\n\n";
  Report report(page,
                {"encoding",
                 {"length", "length", "tokens"},
                 "ms",
                 {"min", "min, ms", "ms"},
                 {"max", "max, ms", "ms"},
                 "tokens/s",
                 "GFLOP/s",
                 {"limit", "limit, ms", "ms"},
                 {"of limit", "of limit", "share of 1"},
                 "bound by",
                 "against none",
                 "peak MiB"},
                24, common.table);
  LeftOut left_out;
  for (const int64_t length : lengths) {
    const auto make = [&](const std::string& expression) {
      config.posenc = expression;
      return std::make_unique<ForwardPass>(config, Shape{batch_size, length}, common.dtype(),
                                           common.where());
    };
    const LeftOut here = measure_in_turn(
        bench_encodings(posenc), /*warm_up=*/1, common.rounds, make,
        [&](const Contender<ForwardPass>& one) {
          const double time = one.time_s.median();
          const double gflop = train::forward_gflop(config, batch_size, length);
          const int64_t n_byte = one.subject->weight_bytes();
          const ForwardLimit limit(gflop, peak.gflops, n_byte, copy_rate(n_byte, common.where()));
          report.add({one.posenc, length, milliseconds(time), milliseconds(one.time_s.min()),
                      milliseconds(one.time_s.max()),
                      cli::fixed_cell(static_cast<double>(batch_size * length) / time, 0),
                      cli::fixed_cell(gflop / time, 1), limit.time(), limit.share(time),
                      limit.bound(), ratio(one.against_none),
                      mebibytes(one.subject->peak_bytes())});
        });
    for (const std::string& line : here.lines)
      left_out.lines.push_back(concat("left out at ", length, ": ", line, '\n'));
    if (!left_out.refusal) left_out.refusal = here.refusal;
  }
  report.finish(source_line(machine_here(common.where()), argc, argv));
  if (!left_out.lines.empty())
    out << common.table.fence() << joined(left_out.lines, "") << common.table.fence();
  report.print_memory();
  page.finish();
  left_out.rethrow();
  return cli::kDone;
}

}  // namespace farfield::bench
