#include "apps/analysis/student.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "engine/base/error.h"

namespace farfield::analysis {
namespace {

boost::math::students_t distribution(int64_t df) {
  require<ConfigError>(df >= 1, "student",
                       "bad_argument: expected at least one degree of freedom, got ", df);
  return boost::math::students_t(static_cast<double>(df));
}

}  // namespace

double student_two_sided(double t, int64_t df) {
  const boost::math::students_t student = distribution(df);
  if (std::isnan(t)) return t;
  if (std::isinf(t)) return 0;
  // The complement keeps its digits far out, where 1 - cdf has none.
  return 2 * cdf(complement(student, std::abs(t)));
}

double student_half_width(int64_t df, double level) {
  const boost::math::students_t student = distribution(df);
  require<ConfigError>(level > 0 && level < 1, "student",
                       "bad_argument: expected a level between 0 and 1, got ", level);
  return quantile(complement(student, (1 - level) / 2));
}

}  // namespace farfield::analysis
