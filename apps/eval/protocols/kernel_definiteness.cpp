#include "apps/eval/protocols/kernel_definiteness.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>

#include "apps/analysis/definiteness.h"
#include "apps/eval/kernels.h"
#include "apps/eval/protocol.h"
#include "engine/base/error.h"

namespace farfield::eval {
namespace {

constexpr int64_t kMostPoints = 2048;  // the time grows with the third power

struct VerdictText {
  double number;
  const char* word;
};

VerdictText text_of(analysis::Verdict verdict) {
  if (verdict == analysis::Verdict::cpd) return {1, "cpd"};
  return verdict == analysis::Verdict::boundary ? VerdictText{0, "boundary"}
                                                : VerdictText{-1, "not_cpd"};
}

// The n for which the mask shows every distance between tokens 0 to n - 1. log-fit leaves out only
// the hidden distances, but a matrix needs every distance below its size.
int64_t n_visible(const Kernel& kernel) {
  return std::find(kernel.bias.begin(), kernel.bias.end(), -INFINITY) - kernel.bias.begin();
}

}  // namespace

void add_options(cli::Options& options, KernelDefinitenessOptions& own) {
  options.group("Definiteness of kernels")
      .add("definiteness-points", own.points, "N", "tokens 0 to N - 1 make the matrix");
}

void check(const KernelDefinitenessOptions& own) {
  require<ConfigError>(own.points >= 2 && own.points <= kMostPoints, "eval:definiteness",
                       "bad_argument: expected definiteness-points from 2 to ", kMostPoints,
                       ", got ", own.points);
}

ProtocolResult kernel_definiteness(const Subject& subject, const KernelDefinitenessOptions& own) {
  ProtocolResult result;
  result.protocol = "definiteness";
  result.parameters = concat("points=", own.points);
  std::vector<double> points(static_cast<size_t>(own.points));
  std::iota(points.begin(), points.end(), 0.0);
  measure_kernels(
      result, subject, own.points, [&](const std::vector<Kernel>& kernels, LengthResult& to) {
        std::set<int64_t> hidden_from;
        for (const Kernel& kernel : kernels) {
          const int64_t n = n_visible(kernel);
          if (n < own.points) hidden_from.insert(n);
          const analysis::Definiteness found =
              analysis::definiteness([&](double d) { return kernel.at(static_cast<int64_t>(d)); },
                                     std::span(points).first(static_cast<size_t>(n)));
          const VerdictText verdict = text_of(found.verdict);
          const bool is_cpd = found.verdict == analysis::Verdict::cpd;
          to.quantities.push_back({"smallest_eigenvalue", found.smallest_eigenvalue, kernel.of});
          to.quantities.push_back({"verdict", verdict.number, kernel.of, verdict.word});
          to.quantities.push_back({"c_min", found.smallest_shift, kernel.of, is_cpd ? "" : "none"});
          to.quantities.push_back(
              {"search", found.searched_shift, kernel.of, is_cpd ? "" : "none"});
          to.quantities.push_back({"n", static_cast<double>(n), kernel.of});
        }
        for (const int64_t n : hidden_from)
          to.notes.push_back(
              concat("a mask hides distance ", n, ": tokens 0 to ", n - 1, " make the matrix"));
      });
  return result;
}

Protocol kernel_definiteness_row() {
  return {.place = 10,
          .name = "definiteness",
          .help = "whether the bias of each head is a conditionally positive definite kernel",
          .source = "KERPLE (arXiv:2205.09921) 3, A.1, A.2",
          .synonyms = {"cpd"},
          .needs_model = true,
          .add_options = add_own<KernelDefinitenessOptions>,
          .check = check_own<KernelDefinitenessOptions>,
          .run = [](const Subject& subject, const EvalOptions& eval) {
            return kernel_definiteness(subject, eval.own<KernelDefinitenessOptions>());
          }};
}

}  // namespace farfield::eval
