#include "apps/analysis/t_test.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "apps/analysis/spread.h"
#include "apps/analysis/student.h"
#include "engine/base/error.h"

namespace farfield::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs;
  for (const double x : values) logs.push_back(std::log(x));
  return logs;
}

}  // namespace

double TTest::half_width(double alpha) const {
  if (!is_defined()) return std::nan("");
  if (!(deviation > 0)) return 0;
  return student_half_width(n - 1, 1 - alpha) * deviation / std::sqrt(static_cast<double>(n));
}

TTest paired_t_test(std::span<const double> reference, std::span<const double> candidate) {
  constexpr std::string_view kWhere = "t-test";
  require<ConfigError>(reference.size() == candidate.size(), kWhere,
                       "bad_argument: expected one candidate for each reference, got ",
                       candidate.size(), " for ", reference.size());
  require<ConfigError>(reference.size() >= 2, kWhere,
                       "bad_argument: expected at least 2 pairs, got ", reference.size(),
                       "; train more seeds");
  std::vector<double> differences;
  for (size_t i = 0; i < reference.size(); ++i) differences.push_back(candidate[i] - reference[i]);

  TTest test;
  test.n = static_cast<int64_t>(differences.size());
  // inf - inf is NaN, so a number that is not finite on either side shows here.
  if (!std::all_of(differences.begin(), differences.end(),
                   [](double d) { return std::isfinite(d); }))
    return test;
  test.mean = mean_of(differences);
  test.deviation = deviation_of(differences);
  if (test.deviation > 0) {
    test.t = test.mean / standard_error_of(differences);
    test.p = student_two_sided(test.t, test.n - 1);
  } else {
    test.t = test.mean == 0 ? 0 : std::copysign(kInfinity, test.mean);
    test.p = test.mean == 0 ? 1 : 0;
  }
  return test;
}

TTest log_ratio_t_test(std::span<const double> reference, std::span<const double> candidate) {
  return paired_t_test(logarithms(reference), logarithms(candidate));
}

Mark sandwich_mark(const TTest& test, double alpha) {
  if (!test.is_significant(alpha)) return Mark::none;
  return test.mean > 0 ? Mark::dagger : Mark::star;
}

Mark kerple_mark(const TTest& test, double alpha) {
  const Mark mark = sandwich_mark(test, alpha);
  return mark == Mark::dagger ? mark : Mark::none;
}

}  // namespace farfield::analysis
