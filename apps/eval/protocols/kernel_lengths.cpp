#include "apps/eval/protocols/kernel_lengths.h"

#include <cmath>

#include "apps/cli/distances.h"
#include "apps/eval/kernels.h"
#include "apps/eval/protocol.h"

namespace farfield::eval {
namespace {

double tokens_of(const analysis::Reach& reach) {
  return reach ? static_cast<double>(*reach) : INFINITY;  // not reached
}

Series count_of(const std::vector<analysis::Reach>& lengths) {
  Series series;
  series.name = "heads with at most this effective length";
  series.axis = "effective length (tokens)";
  series.is_log_x = true;
  series.may_log_y = false;
  const std::vector<int64_t> count = analysis::head_count_curve(lengths);
  for (size_t x = 0; x < count.size(); ++x) {
    const bool is_end = x == 0 || x + 1 == count.size();
    if (!is_end && count[x] == count[x - 1] && count[x] == count[x + 1]) continue;
    series.x.push_back(static_cast<double>(x));
    series.y.push_back(static_cast<double>(count[x]));
  }
  return series;
}

Series shape_of(const Kernel& kernel) {
  Series series;
  series.name = "kernel";
  series.axis = "distance (tokens)";
  series.of = kernel.of;
  series.is_log_x = true;
  for (const int64_t d : cli::drawn_distances(analysis::kLargestDistance)) {
    series.x.push_back(static_cast<double>(d));
    series.y.push_back(kernel.at(d));
  }
  return series;
}

}  // namespace

ProtocolResult kernel_lengths(const Subject& subject) {
  ProtocolResult result;
  result.protocol = "effective-length";
  result.parameters =
      concat("threshold=", analysis::kEffectiveThreshold, " largest=", analysis::kLargestDistance);
  measure_kernels(
      result, subject, analysis::kLargestDistance + 1,
      [](const std::vector<Kernel>& kernels, LengthResult& to) {
        std::vector<analysis::Reach> lengths;
        for (const Kernel& kernel : kernels) {
          const analysis::EffectiveLength length = analysis::effective_length(kernel.bias);
          lengths.push_back(kernel.has_closed_form ? kernel.closed_form : length.length);
          to.quantities.push_back({"eff", tokens_of(lengths.back()), kernel.of});
          if (kernel.at(0) != 0)
            to.quantities.push_back({"eff_relative", tokens_of(length.relative), kernel.of});
          to.quantities.push_back({"nonmonotone", length.is_monotone ? 0.0 : 1.0, kernel.of,
                                   length.is_monotone ? "no" : "yes"});
        }
        to.series.push_back(count_of(lengths));
        for (const Kernel& kernel : kernels) to.series.push_back(shape_of(kernel));
      });
  return result;
}

Protocol kernel_lengths_row() {
  return {
      .place = 8,
      .name = "effective-length",
      .help = "how far each head attends by its bias alone, and how many heads how far",
      .source = "KERPLE (arXiv:2205.09921) A.5",
      .needs_model = true,
      .run = [](const Subject& subject, const EvalOptions&) { return kernel_lengths(subject); }};
}

}  // namespace farfield::eval
