#include <algorithm>
#include <functional>
#include <memory>

#include "apps/bench/commands.h"
#include "apps/bench/options.h"
#include "apps/bench/random_tensor.h"
#include "apps/bench/report.h"
#include "apps/bench/source.h"
#include "engine/autograd.h"
#include "engine/base/random.h"
#include "engine/device_info.h"
#include "engine/ops.h"
#include "engine/optim.h"

namespace farfield::bench {
namespace {

// A memory-bound operation: the bytes that it must at least read and write.
struct Work {
  std::string name;
  double n_bytes;
  std::function<void()> run;
};

Tensor random_targets(int64_t n, int64_t n_vocab, const Device& device) {
  const Random source{1, stream_of("targets")};
  std::vector<int32_t> ids(static_cast<size_t>(n));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>(source.below(i, static_cast<uint64_t>(n_vocab)));
  return Tensor::from(ids, {n}, device);
}

// Random, as in training: constant data flatters a card, since few bits switch, and equal targets
// are read from one place. Activations of n_row tokens, logits of a sixteenth of them, and a
// parameter of n_weight elements.
std::vector<Work> works(int64_t n_row, int64_t d, int64_t n_vocab, int64_t n_weight, DType dtype,
                        const Device& device) {
  const int64_t n_logit_row = std::max<int64_t>(1, n_row / 16);
  const auto size = [&](int64_t n, DType of) { return static_cast<double>(n * size_of(of)); };
  const double x_bytes = size(n_row * d, dtype), logit_bytes = size(n_logit_row * n_vocab, dtype);
  const Tensor x = random_tensor({n_row, d}, "x", dtype, device),
               y = random_tensor({n_row, d}, "y", dtype, device);
  const Tensor weight = Tensor::full({d}, 1, DType::f32, device),
               bias = Tensor::zeros({d}, DType::f32, device);
  Tensor leaf = x.clone(), w = weight.clone(), b = bias.clone();
  for (Tensor* t : {&leaf, &w, &b}) t->set_requires_grad();
  const Tensor logits = random_tensor({n_logit_row, n_vocab}, "logits", dtype, device);

  Tensor to_change = cast(logits, DType::f32);  // as in training, whatever x is
  const Tensor targets = random_targets(n_logit_row, n_vocab, device);
  Tensor parameter = random_tensor({n_weight}, "parameter", DType::f32, device).set_requires_grad();
  const Tensor gradient = random_tensor({n_weight}, "gradient", DType::f32, device);
  const auto optimizer = std::make_shared<AdamW>(std::vector<Parameter>{{"w", parameter, true}});
  const Tensor one = Tensor::full({}, 1, DType::f64, device);
  const StepGuard guard{.loss = one, .grad_norm = one, .max_norm = 1};

  const auto plain = [](auto f) {
    return [f]() mutable {
      const NoGrad no_grad;
      f();
    };
  };
  return {
      {"copy", 2 * x_bytes, plain([=] { x.clone(); })},
      {"gelu", 2 * x_bytes, plain([=] { gelu(x); })},
      {"add", 3 * x_bytes, plain([=] { x + y; })},
      {"layer norm with residual", 4 * x_bytes,
       plain([=] { add_layer_norm(x, y, weight, bias, 1e-5); })},
      // forward reads x and writes y; backward reads x, dy and writes dx
      {"layer norm and gradient", 5 * x_bytes,
       [=] {
         backward(layer_norm(leaf, w, b, 1e-5), y);
         for (const Tensor& t : {leaf, w, b}) t.set_grad({});
       }},
      {"log softmax", 2 * logit_bytes, plain([=] { log_softmax(logits); })},
      {"cross entropy", 2 * size(to_change.numel(), DType::f32),
       plain([=]() mutable { nll_in_place(to_change, targets); })},
      // reads weight, gradient and two moments, writes all but the gradient
      {"AdamW", size(7 * n_weight, DType::f32),
       [=] {
         parameter.set_grad(gradient);
         optimizer->step(1e-4, guard);
       }},
      {"gradient norm", size(n_weight, DType::f32),
       [=] {
         parameter.set_grad(gradient);
         device_grad_norm(optimizer->parameters());
       }},
  };
}

}  // namespace

int bench_bandwidth(int argc, const char* const* argv, std::ostream& to) {
  BenchOptions common;
  int64_t n_row = 65536, width = 768, n_vocab = 50304, n_weight = 64'000'000;
  cli::Options options(
      "bench bandwidth",
      "Times memory-bound operations: bytes that must at least be moved, by time, as a share "
      "of what a copy of the activations reaches in the same round.");
  options.group("Sizes")
      .add("rows", n_row, "N", "tokens")
      .add("width", width, "N", "of the model")
      .add("vocab-size", n_vocab, "N", "logits of a token; there are logits of rows / 16 tokens")
      .add("weights", n_weight, "N", "parameters that the optimizer updates");
  common.add_to(options);
  if (!options.parse(argc, argv, to)) return cli::kDone;
  common.apply();
  require<ConfigError>(n_row >= 1 && width >= 1 && n_vocab >= 1 && n_weight >= 1, "bench",
                       "expected sizes from 1 on");

  cli::Printout page(to, "bench bandwidth", common.table.is_json);
  std::ostream& out = page.text();
  const std::string peak_line = common.peak().line;
  out << n_row << " x " << width << ", vocabulary " << n_vocab << ", " << n_weight << " weights, "
      << *common.precision << "; " << peak_line << "\n\n";
  const Device device = common.where();
  const std::vector<Work> all = works(n_row, width, n_vocab, n_weight, common.dtype(), device);
  const auto rate = [&](const Work& work) {  // GB/s
    constexpr int kTimes = 5;
    synchronize(device);
    const double time = analysis::seconds([&] {
      for (int i = 0; i < kTimes; ++i) work.run();
      synchronize(device);
    });
    return 1e-9 * kTimes * work.n_bytes / time;
  };
  Report report(page,
                {"work",
                 "MB",
                 "ms",
                 "GB/s",
                 {"min", "min, GB/s", "GB/s"},
                 {"max", "max, GB/s", "GB/s"},
                 {"of copy", "of copy", "share of 1"}},
                26, common.table);
  for (const Work& work : all) {
    analysis::Samples rates, copies;
    for (int64_t round = -1; round < common.rounds; ++round) {  // one to warm up
      const double copy = rate(all[0]), own = rate(work);
      if (round < 0) continue;
      copies.add(copy);
      rates.add(own);
    }
    report.add({work.name, cli::fixed_cell(1e-6 * work.n_bytes, 1),
                milliseconds(1e-9 * work.n_bytes / rates.median()),
                cli::fixed_cell(rates.median(), 1), cli::fixed_cell(rates.min(), 1),
                cli::fixed_cell(rates.max(), 1), percent(analysis::median_ratio(rates, copies))});
  }
  report.finish(source_line(machine_here(common.where()), argc, argv));
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::bench
