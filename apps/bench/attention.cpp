#include "engine/ops/attention.h"

#include <algorithm>
#include <optional>

#include "apps/bench/commands.h"
#include "apps/bench/encodings.h"
#include "apps/bench/options.h"
#include "apps/bench/random_tensor.h"
#include "apps/bench/repeated.h"
#include "apps/bench/report.h"
#include "apps/bench/source.h"
#include "engine/autograd.h"
#include "engine/device_info.h"
#include "posenc/composition.h"

namespace farfield::bench {
namespace {

// Sequences through the attention op, tables included.
class Attention {
 public:
  Attention(const std::string& expression, const Shape& shape, DType dtype, const Device& device,
            bool with_backward)
      : encoding_(expression, config(shape, device)),
        with_backward_(with_backward),
        length_(shape[2]) {
    const auto made = [&](std::string_view name) {
      return random_tensor(shape, name, dtype, device);
    };
    q_ = made("q");
    k_ = made("k");
    v_ = made("v");
    dout_ = random_tensor({shape[0], length_, shape[1] * shape[3]}, "dout", dtype, device);
    // Two rotations mean two copies of q and k.
    if (encoding_.plan(1, length_, kPhase).layers[0].rotation.far.cos_q.defined())
      far_ = {made("far q"), made("far k")};
    if (with_backward)
      for (Tensor* x : inputs()) x->set_requires_grad();
  }

  /// Seconds of the tables, the forward pass and, when wanted, the gradients of q, k, v and of
  /// learned tables.
  double run() {
    const Device& device = q_.device();
    const double forward_s = with_backward_ ? seconds_each(device, [&] { forward(); }) : 0;
    const int64_t held = memory_stats(device).current_bytes;
    reset_peak_memory(device);
    const double time_s = seconds_each(device, [&] {
      const Tensor y = forward();
      if (with_backward_) backward(y, dout_);
      clear_gradients();
    });
    // The output and the gradients of the inputs belong to the caller.
    const auto n_input = static_cast<int64_t>(inputs().size());
    const int64_t results = (with_backward_ ? n_input + 1 : 1) * q_.size_bytes();
    extra_bytes_ = memory_stats(device).peak_bytes - held - results;
    if (is_warm_) forward_s_.add(with_backward_ ? forward_s : time_s);
    if (is_warm_) backward_s_.add(time_s - forward_s);
    is_warm_ = true;
    return time_s;
  }
  /// Times of all runs but the first: of the forward pass, as it is recorded for a gradient, and of
  /// the rest of the run, which computes the gradient.
  const analysis::Samples& forward_s() const { return forward_s_; }
  const analysis::Samples& backward_s() const { return backward_s_; }
  /// Memory of the latest run, beyond inputs, output and their gradients.
  int64_t extra_bytes() const { return extra_bytes_; }

 private:
  static constexpr posenc::Phase kPhase = posenc::Phase::train;
  static posenc::Config config(const Shape& shape, const Device& device) {
    posenc::Config c;
    c.n_head = shape[1];
    c.head_dim = shape[3];
    c.d_model = c.n_head * c.head_dim;
    c.train_len = shape[2];
    c.device = device;
    return c;
  }

  Tensor forward() {
    const auto plan = encoding_.plan(length_, length_, kPhase);
    if (with_backward_) return attention(q_, k_, v_, plan.layers[0].rule, far_);
    const NoGrad no_grad;
    return attention(q_, k_, v_, plan.layers[0].rule, far_);
  }

  void clear_gradients() {
    for (const Tensor* x : inputs()) x->set_grad({});
    for (const Parameter& parameter : encoding_.parameters()) parameter.value.set_grad({});
  }

  // The tensors that get a gradient.
  std::vector<Tensor*> inputs() {
    if (far_.q.defined()) return {&q_, &k_, &v_, &far_.q, &far_.k};
    return {&q_, &k_, &v_};
  }

  posenc::Composition encoding_;
  bool with_backward_, is_warm_ = false;
  int64_t length_, extra_bytes_ = 0;
  analysis::Samples forward_s_, backward_s_;
  Tensor q_, k_, v_, dout_;
  FarHeads far_;
};

}  // namespace

int bench_attention(int argc, const char* const* argv, std::ostream& to) {
  BenchOptions common;
  std::vector<int64_t> lengths = {512, 2048, 4096, 8192, 16384};
  std::vector<std::string> posenc = {"none", "alibi", "kerple_log"};
  int64_t n_head = 12, head_dim = 64;
  std::optional<int64_t> n_token;
  bool forward_only = false;
  cli::Options options(
      "bench attention",
      "Times the fused attention op on causal sequences. Flop are counted for the causal half: 2 "
      "products forward, 5 backward; `forward` and `backward` are ms of each, the latter what the "
      "gradient adds; shares are of the float32 FMA peak, on a card of its peak. "
      "`extra MiB` is the most "
      "memory beyond inputs, output and their gradients. Only what an encoding does to the scores "
      "is measured: a rotation costs its time elsewhere.");
  options.group("Attention")
      .add("lengths", lengths, "N,...", "sequence lengths")
      .add("posenc", posenc, "EXPR,...",
           "positional encodings, or all; may be repeated; `none` takes turns with each other one")
      .add("heads", n_head, "N", "heads")
      .add("head-dim", head_dim, "N", "width of a head")
      .add("tokens", n_token, "N",
           "as many sequences as hold N tokens, at least one (default: one sequence)")
      .add("forward", forward_only, "leave the gradients out");
  common.add_to(options);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  common.apply();
  require<ConfigError>(n_head >= 1 && head_dim >= 1, "bench",
                       "expected heads and head-dim from 1 on, got ", n_head, " and ", head_dim);
  require<ConfigError>(n_token.value_or(1) >= 1, "bench", "expected tokens from 1 on, got ",
                       n_token.value_or(1));
  check_lengths(lengths);

  cli::Printout page(to, "bench attention", common.table.is_json);
  std::ostream& out = page.text();
  const std::string peak_line = common.peak().line;
  out << n_head << " heads of " << head_dim << ", " << *common.precision << ", "
      << (forward_only ? "forward" : "forward and backward") << "; " << peak_line << "\n\n";
  Report report(page,
                {"encoding",
                 {"length", "length", "tokens"},
                 "ms",
                 {"min", "min, ms", "ms"},
                 {"max", "max, ms", "ms"},
                 {"forward", "forward, ms", "ms"},
                 {"backward", "backward, ms", "ms"},
                 "GFLOP/s",
                 {"share", "share of the peak", "share of 1"},
                 "against none",
                 "extra MiB"},
                24, common.table);
  LeftOut left_out;
  for (const int64_t length : lengths) {
    analysis::Samples peak;
    for (int64_t round = 0; round < common.rounds; ++round) peak.add(common.peak().gflops);
    const int64_t batch = std::max<int64_t>(1, n_token.value_or(length) / length);
    const auto make = [&](const std::string& expression) {
      return std::make_unique<Attention>(expression, Shape{batch, n_head, length, head_dim},
                                         common.dtype(), common.where(), !forward_only);
    };
    const double gflop = 1e-9 * (forward_only ? 2 : 7) *
                         static_cast<double>(batch * n_head * head_dim) *
                         static_cast<double>(length) * static_cast<double>(length);
    const LeftOut here = measure_in_turn(
        bench_encodings(posenc), /*warm_up=*/1, common.rounds, make,
        [&](const Contender<Attention>& one) {
          const double rate = gflop / one.time_s.median();
          report.add({one.posenc, length, milliseconds(one.time_s.median()),
                      milliseconds(one.time_s.min()), milliseconds(one.time_s.max()),
                      milliseconds(one.subject->forward_s().median()),
                      forward_only ? cli::Cell::missing("")
                                   : milliseconds(one.subject->backward_s().median()),
                      cli::fixed_cell(rate, 1), Peak{peak.median(), {}}.share(rate),
                      ratio(one.against_none), mebibytes(one.subject->extra_bytes())});
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
