#include "apps/inspect/trials.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "apps/train/trainer.h"
#include "data/prepare.h"
#include "engine/autograd.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/random.h"
#include "layers/transformer.h"
#include "posenc/registry.h"

namespace farfield::inspect {
namespace {

constexpr int64_t kBatch = 2, kTrainLen = 16, kWindow = 12;

/// The error of a path that gives wrong numbers.
struct Broken : Error {
  using Error::Error;
};
/// The error of a path that does not apply to an encoding.
struct Nothing : Error {
  using Error::Error;
};

template <class... Parts>
void expect(bool ok, const Parts&... parts) {
  if (!ok) throw Broken(concat(parts...));
}

Trial outcome_of(const std::function<void()>& path) {
  using Outcome = Trial::Outcome;
  try {
    path();
    return {};
  } catch (const Nothing& reason) {
    return {Outcome::nothing, reason.what()};
  } catch (const ConfigError& error) {
    return {Outcome::refused, error.what()};
  } catch (const std::exception& error) {
    return {Outcome::broken, error.what()};
  }
}

ModelConfig shape(const std::string& expression) {
  return {.n_layer = 2,
          .n_head = 2,
          .d_model = 16,
          .d_ff = 32,
          .vocab_size = 64,
          .train_len = kTrainLen,
          .init_std = 0.2,  // attention far from uniform, so that positions matter
          .posenc = expression};
}

// Made-up tokens [kBatch, n].
Tensor tokens(int64_t n, std::string_view name) {
  const Random random{1, stream_of(name)};
  std::vector<int32_t> ids(static_cast<size_t>(kBatch * n));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(random.below(i, 64));
  return Tensor::from(std::span<const int32_t>(ids), {kBatch, n});
}

void expect_finite(const Tensor& x, const std::string& what) {
  for (const double value : x.to_vector())
    expect(std::isfinite(value), what, ": expected finite numbers, got ", value);
}

Tensor loss_of(const Transformer& model) {
  return model.loss(tokens(kTrainLen, "inputs"), tokens(kTrainLen, "targets"), /*draw=*/3);
}

// Evaluation at n tokens: all of them, and the last alone.
void evaluate_at(const Transformer& model, int64_t n) {
  const Tensor ids = tokens(n, "inputs"), targets = tokens(n, "targets");
  const Tensor all = model.nll(ids, targets);
  expect_finite(all, concat("evaluation at ", n));
  std::vector<int32_t> last;
  for (int64_t b = 0; b < kBatch; ++b) last.push_back(targets.data<int32_t>()[b * n + n - 1]);
  const Tensor got = model.last_nll(ids, Tensor::from(std::span<const int32_t>(last), {kBatch}));
  const std::vector<double> rows = all.to_vector(), lasts = got.to_vector();
  for (size_t b = 0; b < lasts.size(); ++b) {
    const double want = rows[(b + 1) * static_cast<size_t>(n) - 1];
    expect(std::abs(lasts[b] - want) <= 1e-3 * (1 + std::abs(want)),
           "the last token alone: expected ", want, ", got ", lasts[b]);
  }
}

void forward(const std::string& expression) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Transformer model(shape(expression), 1, dtype);
    expect_finite(loss_of(model), "loss");
    evaluate_at(model, kTrainLen);
  }
}

bool learns(const posenc::Composition& encoding) {
  for (const Parameter& p : encoding.parameters())
    if (p.value.requires_grad()) return true;
  return false;
}

void expect_gradients(const Transformer& model) {
  backward(loss_of(model));
  for (const Parameter& p : model.parameters()) {
    if (!p.value.requires_grad()) continue;
    expect(p.value.grad().defined(), p.name, ": expected a gradient, got none");
    expect_finite(p.value.grad(), "gradient of " + p.name);
  }
  for (const Parameter& p : model.encoding().parameters()) {
    if (!p.value.requires_grad()) continue;
    const std::vector<double> grad = p.value.grad().to_vector();
    expect(std::any_of(grad.begin(), grad.end(), [](double x) { return x != 0; }), p.name,
           ": expected a gradient that is not zero everywhere");
  }
}

// Checks the gradient of every learned value of the encoding against central differences of the
// loss.
void differences(const std::string& expression) {
  const Transformer model(shape(expression), 1, DType::f64);
  if (!learns(model.encoding())) throw Nothing("it learns nothing");
  backward(loss_of(model));
  for (Parameter& p : model.encoding().parameters()) {
    if (!p.value.requires_grad()) continue;
    const std::vector<double> grad = p.value.grad().to_vector();
    double largest = 0;
    for (const double g : grad) largest = std::max(largest, std::abs(g));
    for (size_t i = 0; i < grad.size(); ++i) {
      const NoGrad no_grad;
      double& x = p.value.data<double>()[i];
      const double at = x, step = 1e-5;
      x = at + step;
      const double above = loss_of(model).item();
      x = at - step;
      const double below = loss_of(model).item();
      x = at;
      const double want = (above - below) / (2 * step);
      expect(std::abs(grad[i] - want) <= 1e-5 * largest + 1e-9, p.name, '[', i, "]: gradient ",
             grad[i], ", central difference ", want);
    }
  }
}

void expect_same(const run::NamedTensors& a, const run::NamedTensors& b) {
  expect(a.size() == b.size(), "expected ", a.size(), " tensors, got ", b.size());
  for (size_t i = 0; i < a.size(); ++i)
    expect(a[i].second.to_vector() == b[i].second.to_vector(), a[i].first,
           ": expected the same bits with and without the interruption");
}

void resume(const std::string& expression, const std::string& corpus, const std::string& folder) {
  run::RunConfig request;
  request.preset = "smoke";
  request.n_layer = 2;
  request.n_head = 2;
  request.d_model = 16;
  request.posenc = expression;
  request.data = {corpus};
  request.train_len = kTrainLen;
  request.batch = kBatch;
  request.steps = 4;
  const run::ResolvedConfig config = run::resolve(request);
  const data::Corpus text = data::Corpus::open(corpus);
  train::Trainer trainer(config, text), resumed(config, text);
  const auto step = [](train::Trainer& t) {
    const train::StepResult result = t.step();
    expect(result.problem.empty(), result.problem);
  };
  step(trainer);
  step(trainer);
  run::save_checkpoint(folder, trainer.state(), trainer.model_tensors(),
                       trainer.optimizer_tensors(), {.last = 1});
  resumed.restore(run::load_newest_checkpoint(folder));
  for (train::Trainer* t : {&trainer, &resumed}) {
    step(*t);
    step(*t);
  }
  expect_same(trainer.model_tensors(), resumed.model_tensors());
  expect_same(trainer.optimizer_tensors(), resumed.optimizer_tensors());
}

// In training and in evaluation; the window must be there on every layer, and a
// row scale where it is asked for.
void composed(const std::string& expression, bool has_row_scale) {
  const Transformer model(shape(expression), 1);
  for (const auto& layer : model.encoding().plan(1, kTrainLen, posenc::Phase::eval).layers) {
    expect(layer.rule.window > 0 && layer.rule.window <= kWindow, "expected a window of ", kWindow,
           " at most, got ", layer.rule.window);
    expect(!has_row_scale || layer.rule.row_scale.defined(), "expected a row scale, got none");
  }
  expect_gradients(model);
  evaluate_at(model, kTrainLen);
}

std::string with_argument(const std::string& expression, const std::string& argument) {
  if (expression.back() != ')') return expression + '(' + argument + ')';
  return expression.substr(0, expression.size() - 1) + ", " + argument + ')';
}

void share_by_layer(const posenc::Row& row) {
  const std::string shared = posenc::training_example_of(row);
  const Transformer all(shape(shared), 1);
  if (!learns(all.encoding())) throw Nothing("it learns nothing");
  const Transformer each(shape(with_argument(shared, "share=layer")), 1);
  const size_t n_all = all.encoding().parameters().size(),
               n_each = each.encoding().parameters().size();
  expect(n_each == 2 * n_all, "expected ", 2 * n_all, " parameters for two layers, got ", n_each);
  expect_gradients(each);
}

}  // namespace

Trials::Trials() : folder_("inspect"), corpus_(folder_ / "corpus") {
  std::string text;
  const Random random{1, stream_of("inspect.trials")};
  for (uint64_t i = 0; i < 3000; ++i) {
    const uint64_t word = random.below(i, 30);
    text += std::string(1 + word % 5, static_cast<char>('a' + word % 26));
    text += word % 7 == 0 ? ".\n" : " ";
  }
  write_file_atomic(folder_ / "text.txt", text);
  data::PrepareOptions prepare;
  prepare.source.inputs = {folder_ / "text.txt"};
  prepare.output = corpus_;
  data::prepare(prepare);
}

const std::vector<std::string>& Trials::paths() {
  static const std::vector<std::string> all = {
      "forward", "backward", "gradients", "resume", "8x", "window", "window,log_n", "share=layer"};
  return all;
}

std::string Trials::expression_of(const posenc::Row& row) {
  const std::string example = posenc::training_example_of(row);
  return row.is("P") && !row.is("R") ? example + " + rope" : example;
}

std::vector<Trial> Trials::run(const posenc::Row& row) const {
  const std::string expression = expression_of(row), window = concat(" + window(", kWindow, ')');
  return {outcome_of([&] { forward(expression); }),
          outcome_of([&] { expect_gradients(Transformer(shape(expression), 1)); }),
          outcome_of([&] { differences(expression); }),
          outcome_of([&] { resume(expression, corpus_, folder_ / row.name); }),
          outcome_of([&] { evaluate_at(Transformer(shape(expression), 1), 8 * kTrainLen); }),
          outcome_of([&] { composed(expression + window, false); }),
          outcome_of([&] { composed(expression + window + " + log_n", true); }),
          outcome_of([&] { share_by_layer(row); })};
}

}  // namespace farfield::inspect
