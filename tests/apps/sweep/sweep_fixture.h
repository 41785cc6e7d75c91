#pragma once

#include <string>
#include <vector>

#include "apps/sweep/plan.h"
#include "apps/sweep/results.h"

namespace farfield::sweep {

/// Data sets that stand for themselves, without a file behind them.
inline PlanOptions made_up_options(Scale scale) {
  PlanOptions options;
  options.scale = scale;
  for (const char* name :
       {"arxiv", "github", "openwebtext2", "wikitext103", "text", "topic", "induction"})
    options.datasets.set(name, name, {name, std::string("hash of ") + name, name});
  return options;
}

/// Two models, one measured at 1 and 2 L.
inline Experiment two_models() {
  Arm a, b;
  a.label = "ALiBi";
  a.posenc = "alibi";
  a.encoding = "alibi";
  b.label = "Rotary";
  b.posenc = "rope";
  b.encoding = "rope";
  Experiment e;
  e.id = "test/two";
  e.title = "two models";
  e.source = "a test";
  e.datasets = {"arxiv"};
  e.arms = {a, b};
  e.measures = {{.key = "P1", .protocol = "last-token", .lengths = {1, 2}}};
  e.outputs = {{.form = Output::Form::table, .measure = "P1"}};
  e.reference_arm = "ALiBi";
  return e;
}

/// What a cell would have measured: this nll at each length of its measurements of a protocol.
inline CellResult made_up_result(const Plan& plan, const Cell& cell, const std::string& key,
                                 const std::vector<double>& nll) {
  CellResult result;
  result.hash = cell.hash();
  result.key = cell.key();
  result.corpus = cell.corpus;
  const Measure* measure = nullptr;
  for (const Measure& m : plan.experiment->measures)
    if (m.key == key) measure = &m;
  for (const Measurement& m : cell.measurements) {
    if (m.protocol != measure->protocol) continue;
    eval::ProtocolResult& of = result.measured[m.id()];
    of.protocol = m.protocol;
    of.parameters = "made up";
    for (size_t i = 0; i < nll.size(); ++i) {
      eval::LengthResult& length = of.lengths.emplace_back();
      length.length = tokens_of(plan.scale, measure->lengths[i]) + measure->offset;
      length.n_scored = 10;
      length.mean_nll = nll[i];
      length.nll_error = 0.01;
      length.tokens = "the same";
    }
  }
  return result;
}

}  // namespace farfield::sweep
