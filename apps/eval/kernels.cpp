#include "apps/eval/kernels.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "layers/transformer.h"
#include "posenc/score_tables.h"
#include "posenc/slopes.h"

namespace farfield::eval {
namespace {

// Other terms, masks and bounds may change the kernel that the parameters describe: the table
// decides.
bool is_kernel_of(const Kernel& kernel, const std::function<double(double)>& formula) {
  for (size_t d = 0; d < kernel.bias.size(); ++d) {
    const double want = formula(static_cast<double>(d));
    if (!(std::abs(kernel.bias[d] - want) <= 1e-12 * std::abs(want))) return false;
  }
  return true;
}

// Adds the effective length by formula, if this kernel has a formula.
void add_closed_form(Kernel& kernel, const posenc::Composition& encoding, int64_t layer,
                     size_t head) {
  std::vector<posenc::Decay> decays = encoding.decays(layer, head);
  if (const double slope = kernel.bias.size() > 1 ? -kernel.at(1) : 0;
      slope > 0 && std::isfinite(slope))
    decays.insert(decays.begin(), posenc::linear_decay(slope));
  for (const posenc::Decay& decay : decays) {
    if (kernel.has_closed_form || !is_kernel_of(kernel, decay.bias)) continue;
    kernel.has_closed_form = true;
    kernel.closed_form =
        analysis::crossing_near(decay.distance(-analysis::kEffectiveThreshold), decay.bias);
  }
}

// "layer 3", "layers 0-2, 5"
std::string text_of(const std::vector<int64_t>& layers) {
  std::string text = layers.size() == 1 ? "layer " : "layers ";
  for (size_t i = 0; i < layers.size();) {
    size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) ++end;
    text += concat(i > 0 ? ", " : "", layers[i]);
    if (end - i > 1) text += concat('-', layers[end - 1]);
    i = end;
  }
  return text;
}

// Layers with the same tables.
struct Group {
  std::vector<int64_t> layers;
  posenc::ScoreTables tables;
  bool is_by_row = false;
};

std::vector<Group> groups_of(const posenc::Composition& encoding, int64_t n_key, uint64_t draw) {
  const auto plan = encoding.plan(1, n_key, posenc::Phase::eval, {1, draw});
  std::vector<Group> groups;
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    const AttentionRule& rule = plan.layers[i].rule;
    Group next{{static_cast<int64_t>(i)},
               posenc::score_tables(rule, encoding.config().n_head, n_key),
               rule.row_bias.feature.defined()};
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.tables.has_bias == next.tables.has_bias && group.tables.bias == next.tables.bias;
    });
    if (same == groups.end())
      groups.push_back(std::move(next));
    else
      same->layers.push_back(static_cast<int64_t>(i));
  }
  return groups;
}

bool has_kernel(const std::vector<Group>& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [](const Group& group) { return group.tables.has_bias; });
}

}  // namespace

Kernels kernels_of(const Transformer& model, int64_t n_distance, uint64_t draw) {
  const posenc::Composition encoding = model.encoding().widened();
  Kernels kernels;
  // At a short length first: an encoding without a kernel need not reach the long one.
  if (!has_kernel(groups_of(encoding, std::min<int64_t>(2, n_distance), draw))) {
    kernels.remark = concat("no kernel: ", encoding.canonical(), " adds no bias to the scores");
    return kernels;
  }
  const std::vector<Group> groups = groups_of(encoding, n_distance, draw);
  const auto remark = [&](const std::string& text) {
    kernels.remark += (kernels.remark.empty() ? "" : "; ") + text;
  };
  for (const Group& group : groups) {
    if (!group.tables.has_bias) {
      remark(text_of(group.layers) + ": no bias by distance");
      continue;
    }
    if (group.is_by_row)
      remark(concat("the bias depends on the place of the query: that of token ", n_distance,
                    " is shown"));
    const std::string where = groups.size() == 1 ? "" : text_of(group.layers) + ' ';
    for (int64_t head = 0; head < group.tables.n_head; ++head) {
      Kernel& kernel = kernels.heads.emplace_back();
      kernel.of = concat(where, 'h', head + 1);
      const auto first = group.tables.bias.begin() + head * group.tables.n_key;
      kernel.bias.assign(first, first + group.tables.n_key);
      add_closed_form(kernel, encoding, group.layers.front(), static_cast<size_t>(head));
    }
  }
  return kernels;
}

void measure_kernels(ProtocolResult& result, const Subject& subject, int64_t n_distance,
                     const std::function<void(const std::vector<Kernel>&, LengthResult&)>& score) {
  const Transformer& model = subject.model.inside(result.protocol);
  measure_lengths(result, subject, {0}, [&](LengthResult& to) {
    const Kernels kernels = kernels_of(model, n_distance, subject.model.transformer_draw());
    if (!kernels.remark.empty()) to.notes.push_back(kernels.remark);
    try {
      if (!kernels.heads.empty()) score(kernels.heads, to);
    } catch (const Error& error) {
      const std::string code = code_of(error);
      if (code.find("nonfinite_") != 0) throw;
      const std::string text = error.what();  // "[where] code: ...", and where was the arithmetic
      set_failure(to, code, concat("[eval:", result.protocol, text.substr(text.find(']'))));
    }
  });
}

}  // namespace farfield::eval
