// The write-up on extending context: ReLU instead of softmax in attention.

#include <cmath>

#include "apps/analysis/line_fit.h"
#include "apps/analysis/spread.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/biases.h"
#include "apps/sweep/evidence.h"
#include "apps/sweep/measured.h"
#include "engine/base/error.h"
#include "engine/base/random.h"
#include "engine/base/text.h"
#include "engine/ops/attention.h"

namespace farfield::sweep {
namespace {

constexpr const char* kByVariance = "ReLU / root of half the keys";
constexpr const char* kByKeys = "ReLU / keys";
constexpr const char* kWithoutFactor = "ReLU";

// 600 steps at tiny. A model that diverges is measured as it was before.
Arm trained_with(const std::string& label, const std::string& normaliser) {
  Arm arm = arm_of(label, normaliser.empty() ? "rope" : "rope + " + normaliser, "");
  arm.steps = 0.5;
  arm.training = {{"nonfinite", "skip"}};
  return arm;
}

constexpr const char *kSoftmax = "softmax",
                     *kPenalised = "ReLU / root of half the keys, with penalty";

double nats_above_softmax(const Measured& m, const char* arm) {
  return std::log(m.perplexity(arm, 1) / m.perplexity(kSoftmax, 1));
}

void relu_1(const Measured& m, Evidence& e) {
  e.at_least("ReLU without a factor: nats above softmax at L",
             nats_above_softmax(m, kWithoutFactor), 0.3);
}

void factor_trains(const Measured& m, Evidence& e) {
  for (const char* arm : {kByVariance, kPenalised})
    e.below(concat(arm, ": nats above softmax at L"), nats_above_softmax(m, arm), 0.3);
}

Experiment relu_attention() {
  Experiment e;
  e.place = 752;
  e.id = "context/relu-attention";
  e.title = "does a model train with ReLU instead of softmax?";
  e.source = kContextWriteUp;
  e.datasets = {"text"};
  e.arms = {trained_with(kSoftmax, ""), trained_with(kByVariance, "relu_attention"),
            trained_with(kPenalised, "relu_attention(penalty=0.01)"),
            trained_with(kByKeys, "relu_attention(by=seqlen)"),
            trained_with(kWithoutFactor, "relu_attention(by=none)")};
  e.measures = {{.key = "P2", .protocol = "non-overlapping", .lengths = {1, 2, 4}}};
  e.outputs = {{.form = Output::Form::table, .measure = "P2", .caption = "perplexity of chunks"},
               {.form = Output::Form::curves, .measure = "P2", .caption = "perplexity of chunks"}};
  e.findings = {
      {.claim = "C-RELU-1",
       .check = relu_1,
       .asked = "after half of the steps of the scale the loss without a factor is at least 0.3 "
                "nats above softmax"},
      own_finding("context/relu-attention/factor", factor_trains,
                  "with the factor of the variance, and with a penalty on the sums of rows, the "
                  "loss is less than 0.3 nats above softmax")};
  e.remarks = {
      "The factor is 1 / sqrt(keys / 2), for the keys that a query sees. The penalty is 0.01 times "
      "the mean over rows of (sum - 1)^2. The write-up names factor and penalties without their "
      "form."};
  return e;
}

// The output of attention for the last of n tokens, whose queries, keys and values are independent
// normal numbers of variance 1.
double output_deviation(const std::string& expression, int64_t n) {
  constexpr int64_t kSequences = 4, kOfModel = 12;
  const inspect::Subject subject = encoding_at(expression, kOfModel, n);
  const posenc::Composition::Plan plan = subject.plan();
  const int64_t width = subject.config().head_dim;
  uint64_t stream = 0;
  const auto normal = [&](int64_t n_token) {
    const Random random{1, ++stream};
    std::vector<double> x(static_cast<size_t>(kSequences * kOfModel * n_token * width));
    for (size_t i = 0; i < x.size(); ++i) x[i] = random.normal(i);
    return Tensor::from(x, {kSequences, kOfModel, n_token, width}, DType::f64);
  };
  const Tensor q = normal(1), k = normal(n), v = normal(n);
  return analysis::deviation_of(attention(q, k, v, subject.layer_of(plan).rule).to_vector());
}

struct Form {
  const char* label;
  const char* expression;
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {{kWithoutFactor, "relu_attention(by=none)"},
                                        {kByVariance, "relu_attention"},
                                        {kByKeys, "relu_attention(by=seqlen)"},
                                        {kSoftmax, "none"}};
  return all;
}

const std::vector<double>& key_counts() {
  static const std::vector<double> all = {16, 32, 64, 128, 256, 512, 1024};
  return all;
}

// The standard deviations of a form, by key_counts().
std::vector<double> deviations_of(const Form& form) {
  std::vector<double> all;
  for (const double n : key_counts())
    all.push_back(output_deviation(form.expression, static_cast<int64_t>(n)));
  return all;
}

double log_log_slope(const std::vector<double>& deviations) {
  std::vector<double> x, y;
  for (size_t i = 0; i < deviations.size(); ++i) {
    x.push_back(std::log(key_counts()[i]));
    y.push_back(std::log(deviations[i]));
  }
  return analysis::fit_line(x, y).slope;
}

void relu_variance_table(const Measured&, Section& section) {
  ReportTable table;
  table.caption = "standard deviation of the output of attention, by the keys that a query sees";
  table.header = {"keys"};
  for (const double n : key_counts()) table.header.push_back(shortest(n));
  table.header.emplace_back("log-log slope");
  plot::Plot plot = {.x_label = "keys", .y_label = "standard deviation", .curves = {}};
  for (const Form& form : forms()) {
    const std::vector<double> deviations = deviations_of(form);
    std::vector<ReportTable::Field> row = {{form.label}};
    plot::Curve curve = {.label = form.label};
    for (size_t i = 0; i < deviations.size(); ++i) {
      row.push_back({fixed(deviations[i], 4)});
      curve.points.push_back({.x = key_counts()[i], .y = deviations[i]});
    }
    row.push_back({fixed(log_log_slope(deviations), 3)});
    table.rows.push_back(std::move(row));
    plot.curves.push_back(std::move(curve));
  }
  section.tables.push_back(std::move(table));
  section.figures.push_back({"standard deviation of the output of attention", std::move(plot)});
}

void variance_slopes(const Measured&, Evidence& e) {
  for (const Form& form : forms()) {
    const std::string what = concat(form.label, ": log-log slope of the standard deviation");
    if (form.label == kWithoutFactor) e.above(what, log_log_slope(deviations_of(form)), 0);
    if (form.label == kByVariance)
      e.at_most(what + ", its size", std::abs(log_log_slope(deviations_of(form))), 0.1);
  }
}

Experiment relu_variance() {
  Experiment e = without_models(
      754, "context/relu-variance",
      "how does the output of ReLU attention grow with the length, at initialisation?",
      kContextWriteUp, relu_variance_table,
      {own_finding("context/relu-variance/slope", variance_slopes,
                   "the output grows with the number of keys without a factor, and not with the "
                   "factor of the variance (log-log slope within 0.1)")});
  e.remarks = {
      "Queries, keys and values are independent normal numbers of variance 1: 4 sequences, 12 "
      "heads of width 64, the last query of each."};
  return e;
}

}  // namespace

std::vector<Experiment> context_relu_rows() { return {relu_attention(), relu_variance()}; }

}  // namespace farfield::sweep
