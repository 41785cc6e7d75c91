#include "apps/sweep/evidence.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>
#include <utility>

#include "apps/analysis/spread.h"
#include "apps/analysis/student.h"
#include "engine/base/error.h"

namespace farfield::sweep {
namespace {

// For people: five significant digits are enough to see why a condition does not hold.
std::string shown(double x) {
  std::ostringstream text;
  text << std::setprecision(5) << x;
  return text.str();
}

// ln(a / b) of positive numbers, else a - b; 0 for two equal infinities.
double apart(double a, double b) {
  if (a == b) return 0;
  const bool is_ratio = a > 0 && b > 0 && std::isfinite(a) && std::isfinite(b);
  return is_ratio ? std::log(a / b) : a - b;
}

}  // namespace

std::string to_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "PASS";
    case Verdict::fail:
      return "FAIL";
    case Verdict::undecided:
      return "UNDECIDED";
    case Verdict::not_run:
      break;
  }
  return "NOT RUN";
}

void Evidence::Item::judge() {
  const auto share = [&](double of) {
    return limit == 0 || !std::isfinite(limit) ? of : of / std::abs(limit);
  };
  const double above = value == limit ? 0 : value - limit;  // also of two infinities
  switch (relation) {
    case Relation::at_most:
      holds = value <= limit;
      condition = "at most " + shown(limit);
      margin = share(-above);
      break;
    case Relation::at_least:
      holds = value >= limit;
      condition = "at least " + shown(limit);
      margin = share(above);
      break;
    case Relation::below:
      holds = value < limit;
      condition = "below " + shown(limit);
      margin = share(-above);
      break;
    case Relation::above:
      holds = value > limit;
      condition = "above " + shown(limit);
      margin = share(above);
      break;
    case Relation::within:
      holds = std::abs(value / limit - 1) <= tolerance;
      condition = concat("within ", shown(100 * tolerance), " % of ", shown(limit));
      margin = tolerance - std::abs(value / limit - 1);
      break;
    case Relation::yes_or_no:
      margin = holds ? INFINITY : -INFINITY;
      break;
  }
  if (std::isnan(margin)) margin = 0;
}

double Evidence::Item::distance() const {
  switch (relation) {
    case Relation::at_most:
    case Relation::below:
      return apart(limit, value);
    case Relation::at_least:
    case Relation::above:
      return apart(value, limit);
    case Relation::within:
      return std::min(apart(value, limit * (1 - tolerance)), apart(limit * (1 + tolerance), value));
    case Relation::yes_or_no:
      break;
  }
  return margin;
}

Evidence::Item& Evidence::add(const std::string& what, double value, Item::Relation relation,
                              double limit, double tolerance) {
  Item& item = items_.emplace_back();
  item.what = prefix_ + what;
  item.half_width = std::nan("");
  item.is_missing = std::isnan(value) || std::isnan(limit);
  item.value = item.is_missing ? std::nan("") : value;
  item.relation = relation;
  item.limit = limit;
  item.tolerance = tolerance;
  item.judge();
  if (item.is_missing)
    item.holds = false;
  else
    item.by_seed = {value};
  return item;
}

Evidence::Item& Evidence::at_most(const std::string& what, double value, double limit) {
  return add(what, value, Item::Relation::at_most, limit);
}
Evidence::Item& Evidence::at_least(const std::string& what, double value, double limit) {
  return add(what, value, Item::Relation::at_least, limit);
}
Evidence::Item& Evidence::below(const std::string& what, double value, double limit) {
  return add(what, value, Item::Relation::below, limit);
}
Evidence::Item& Evidence::above(const std::string& what, double value, double limit) {
  return add(what, value, Item::Relation::above, limit);
}
Evidence::Item& Evidence::within(const std::string& what, double value, double target,
                                 double tolerance) {
  return add(what, value, Item::Relation::within, target, tolerance);
}
Evidence::Item& Evidence::holds(const std::string& what, bool is_so, double value,
                                const std::string& condition) {
  Item& item = add(what, value, Item::Relation::yes_or_no, 0);
  item.condition = condition;
  item.holds = is_so && !item.is_missing;
  item.judge();
  return item;
}
void Evidence::undecided(const std::string& what, double value, const std::string& why) {
  holds(what, true, value, why).is_sure = false;
}
void Evidence::missing(const std::string& what) { holds(what, false, std::nan(""), "measured"); }
void Evidence::note(const std::string& sentence) { notes_.push_back(prefix_ + sentence); }

void Evidence::add(const Evidence& other) {
  items_.insert(items_.end(), other.items_.begin(), other.items_.end());
  notes_.insert(notes_.end(), other.notes_.begin(), other.notes_.end());
}

Evidence::Item Evidence::pooled(const std::vector<const Item*>& of_seeds) {
  Item item = *of_seeds.front();
  item.by_seed.clear();
  std::vector<double> distances, limits;
  double squares = 0;
  bool is_same = true, is_sure = true;
  for (const Item* const one : of_seeds) {
    item.by_seed.push_back(one->value);
    limits.push_back(one->limit);
    distances.push_back(one->distance());
    squares += one->half_width * one->half_width;
    is_same = is_same && one->holds == item.holds;
    is_sure = is_sure && one->is_sure;
  }
  item.value = analysis::mean_of(item.by_seed);
  item.limit = analysis::mean_of(limits);
  item.is_sure = is_sure;
  if (item.relation == Item::Relation::yes_or_no) {
    item.is_sure = is_sure && is_same;
    return item;
  }
  item.judge();
  // In the unit of the distances.
  const bool is_ratio = item.value > 0 && item.limit > 0;
  double half_width =
      std::sqrt(squares) / static_cast<double>(of_seeds.size()) / (is_ratio ? item.value : 1);
  if (of_seeds.size() > 1) {
    const auto df = static_cast<int64_t>(of_seeds.size()) - 1;
    half_width = std::fmax(
        half_width, analysis::student_half_width(df) * analysis::standard_error_of(distances));
  }
  const double distance = analysis::mean_of(distances);
  if (std::isfinite(half_width) && std::isfinite(distance))
    item.is_sure = is_sure && (half_width == 0 ||
                               (std::abs(distance) > half_width && (distance > 0) == item.holds));
  else  // a single seed, or one with an infinite number
    item.is_sure = is_sure && is_same;
  return item;
}

Evidence Evidence::pooled(const std::vector<Evidence>& of_seeds) {
  Evidence all;
  std::vector<std::pair<std::string, std::vector<const Item*>>> found;
  std::map<std::pair<std::string, int>, size_t> places;  // the nth item of a text
  for (const Evidence& seed : of_seeds) {
    std::map<std::string, int> n_seen;
    for (const Item& item : seed.items_) {
      const auto key = std::pair(item.what, n_seen[item.what]++);
      const auto [place, is_new] = places.emplace(key, found.size());
      if (is_new) found.push_back({item.what, {}});
      found[place->second].second.push_back(&item);
    }
    for (const std::string& note : seed.notes_)
      if (std::find(all.notes_.begin(), all.notes_.end(), note) == all.notes_.end())
        all.notes_.push_back(note);
  }
  for (const auto& [what, items] : found) {
    std::vector<const Item*> there = items;
    std::erase_if(there, [](const Item* item) { return item->is_missing; });
    all.items_.push_back(there.empty() ? *items.front() : pooled(there));
  }
  return all;
}

Verdict Evidence::verdict() const {
  const auto any = [&](bool (*is)(const Item&)) {
    return std::any_of(items_.begin(), items_.end(), is);
  };
  if (any([](const Item& i) { return !i.is_missing && i.is_sure && !i.holds; }))
    return Verdict::fail;
  if (items_.empty() || any([](const Item& i) { return i.is_missing; })) return Verdict::not_run;
  return any([](const Item& i) { return !i.is_sure; }) ? Verdict::undecided : Verdict::pass;
}

size_t Evidence::n_seed() const {
  const bool has_failed = verdict() == Verdict::fail;
  size_t least = 0;
  for (const Item& item : items_) {
    if (item.is_missing || (has_failed && (item.holds || !item.is_sure))) continue;
    const size_t n = item.by_seed.size();
    // One number that surely fails is enough; a pass needs all of them.
    least = least == 0 ? n : has_failed ? std::max(least, n) : std::min(least, n);
  }
  return least;
}

}  // namespace farfield::sweep
