#include "apps/sweep/order.h"

#include <cmath>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {

void explain_order(const Measured& m, Evidence& e, const std::string& a, const std::string& b) {
  if (m.is_published() || e.verdict() != Verdict::fail) return;
  const auto log_ratio = [&](double length) {
    return std::log(m.perplexity(a, length) / m.perplexity(b, length));
  };
  const double near = log_ratio(1), change = log_ratio(16) - near;
  if (std::abs(near) > std::abs(change))
    e.note(concat("at L, where nothing is extrapolated, ", a, " / ", b, " is ",
                  fixed(std::exp(near), 3), " already; from L to 16 L it changes by a factor of ",
                  fixed(std::exp(change), 3)));
}

}  // namespace farfield::sweep
