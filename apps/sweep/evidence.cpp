#include "apps/sweep/evidence.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

// For people: five significant digits are enough to see why a condition does not hold.
std::string shown(double x) {
  std::ostringstream text;
  text << std::setprecision(5) << x;
  return text.str();
}

double share(double distance, double limit) {
  return limit == 0 ? distance : distance / std::abs(limit);
}

}  // namespace

std::string to_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "PASS";
    case Verdict::fail:
      return "FAIL";
    case Verdict::not_run:
      break;
  }
  return "NOT RUN";
}

void Evidence::add(const std::string& what, double value, const std::string& condition, bool holds,
                   double margin) {
  const bool is_missing = std::isnan(value);
  items_.push_back({prefix_ + what, value, condition, is_missing, !is_missing && holds,
                    std::isnan(margin) ? 0 : margin});
}

void Evidence::at_most(const std::string& what, double value, double limit) {
  add(what, std::isnan(limit) ? limit : value, "at most " + shown(limit), value <= limit,
      share(limit - value, limit));
}
void Evidence::at_least(const std::string& what, double value, double limit) {
  add(what, std::isnan(limit) ? limit : value, "at least " + shown(limit), value >= limit,
      share(value - limit, limit));
}
void Evidence::below(const std::string& what, double value, double limit) {
  add(what, std::isnan(limit) ? limit : value, "below " + shown(limit), value < limit,
      share(limit - value, limit));
}
void Evidence::above(const std::string& what, double value, double limit) {
  add(what, std::isnan(limit) ? limit : value, "above " + shown(limit), value > limit,
      share(value - limit, limit));
}
void Evidence::within(const std::string& what, double value, double target, double tolerance) {
  const double off = std::abs(value / target - 1);
  add(what, std::isnan(target) ? target : value,
      concat("within ", shown(100 * tolerance), " % of ", shown(target)), off <= tolerance,
      tolerance - off);
}
void Evidence::holds(const std::string& what, bool is_so, double value,
                     const std::string& condition) {
  add(what, value, condition, is_so, is_so ? INFINITY : -INFINITY);
}
void Evidence::missing(const std::string& what) { add(what, std::nan(""), "measured", false, 0); }
void Evidence::note(const std::string& sentence) { notes_.push_back(prefix_ + sentence); }

Verdict Evidence::verdict() const {
  const bool has_failed = std::any_of(items_.begin(), items_.end(),
                                      [](const Item& i) { return !i.is_missing && !i.holds; });
  if (has_failed) return Verdict::fail;
  const bool is_whole = !items_.empty() && std::none_of(items_.begin(), items_.end(),
                                                        [](const Item& i) { return i.is_missing; });
  return is_whole ? Verdict::pass : Verdict::not_run;
}

}  // namespace farfield::sweep
