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

bool has_kernel(const std::vector<posenc::LayerTables>& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [](const posenc::LayerTables& group) { return group.tables.has_bias; });
}

}  // namespace

Kernels kernels_of(const Transformer& model, int64_t n_distance, uint64_t draw) {
  const posenc::Composition encoding = model.encoding().widened();
  Kernels kernels;
  // At a short length first: an encoding without a kernel need not reach the long one.
  if (!has_kernel(posenc::layer_tables(encoding, std::min<int64_t>(2, n_distance),
                                       posenc::SameTables::bias, draw))) {
    kernels.remark = concat("no kernel: ", encoding.canonical(), " adds no bias to the scores");
    return kernels;
  }
  const std::vector<posenc::LayerTables> groups =
      posenc::layer_tables(encoding, n_distance, posenc::SameTables::bias, draw);
  const auto remark = [&](const std::string& text) {
    kernels.remark += (kernels.remark.empty() ? "" : "; ") + text;
  };
  for (const posenc::LayerTables& group : groups) {
    if (!group.tables.has_bias) {
      remark(posenc::text_of_layers(group.layers) + ": no bias by distance");
      continue;
    }
    if (group.is_by_row)
      remark(concat("the bias depends on the place of the query: that of token ", n_distance,
                    " is shown"));
    const std::string where = groups.size() == 1 ? "" : posenc::text_of_layers(group.layers) + ' ';
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
