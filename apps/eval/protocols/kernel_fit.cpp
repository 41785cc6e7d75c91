#include "apps/eval/protocols/kernel_fit.h"

#include <cmath>

#include "apps/analysis/log_fit.h"
#include "apps/eval/kernels.h"
#include "apps/eval/protocol.h"
#include "engine/base/error.h"

namespace farfield::eval {

void add_options(cli::Options& options, KernelFitOptions& own) {
  options.group("Logarithmic fit of kernels")
      .add("fit-points", own.points, "N", "distances 0 to N - 1 are fitted");
}

void check(const KernelFitOptions& own) {
  require<ConfigError>(own.points >= 2 && own.points <= analysis::kLargestDistance + 1,
                       "eval:log-fit", "bad_argument: expected fit-points from 2 to ",
                       analysis::kLargestDistance + 1, ", got ", own.points);
}

ProtocolResult kernel_fit(const Subject& subject, const KernelFitOptions& own) {
  ProtocolResult result;
  result.protocol = "log-fit";
  result.parameters = concat("points=", own.points);
  measure_kernels(result, subject, own.points,
                  [](const std::vector<Kernel>& kernels, LengthResult& to) {
                    for (const Kernel& kernel : kernels) {
                      std::vector<double> distance, bias;
                      for (size_t d = 0; d < kernel.bias.size(); ++d) {
                        if (kernel.bias[d] == -INFINITY) continue;
                        distance.push_back(static_cast<double>(d));
                        bias.push_back(kernel.bias[d]);
                      }
                      const analysis::LineFit fit = analysis::fit_log(distance, bias);
                      to.quantities.push_back({"a", fit.slope, kernel.of});
                      to.quantities.push_back({"b", fit.intercept, kernel.of});
                      to.quantities.push_back({"residual", fit.residual, kernel.of});
                      to.quantities.push_back({"n", static_cast<double>(fit.n), kernel.of});
                    }
                  });
  return result;
}

Protocol kernel_fit_row() {
  return {.place = 9,
          .name = "log-fit",
          .help = "the bias of each head: the nearest a ln(1 + d) + b",
          .source = "Sandwich (arXiv:2212.10356) 6.2",
          .needs_model = true,
          .add_options = add_own<KernelFitOptions>,
          .check = check_own<KernelFitOptions>,
          .run = [](const Subject& subject, const EvalOptions& eval) {
            return kernel_fit(subject, eval.own<KernelFitOptions>());
          }};
}

}  // namespace farfield::eval
