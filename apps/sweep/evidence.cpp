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
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

// For people: five significant digits are enough to see why a condition does not hold.
std::string shown(double x) {
  if (std::isinf(x)) return x > 0 ? "infinity" : "-infinity";
  std::ostringstream text;
  text << std::setprecision(5) << x;
  return text.str();
}

double apart(double a, double b, bool is_ratio) {
  if (a == b) return 0;  // also two infinities
  return is_ratio ? std::log(a / b) : a - b;
}

// The mean of a distance over the seeds, and half its 95 % interval; 0 where none is known.
struct Side {
  double mean = 0, half_width = 0;
  bool is_bounded() const { return mean < INFINITY; }
  bool is_surely_inside() const {
    return !is_bounded() || (half_width == 0 ? mean >= 0 : mean > half_width);
  }
  bool is_surely_outside() const { return is_bounded() && mean < 0 && -mean > half_width; }
};

Side side_of(const std::vector<double>& distances, double own_half_width) {
  Side side = {analysis::mean_of(distances), own_half_width};
  if (distances.size() > 1)
    side.half_width = std::fmax(
        own_half_width, analysis::student_half_width(static_cast<int64_t>(distances.size()) - 1) *
                            analysis::standard_error_of(distances));
  return side;
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
      condition = tolerance == 0
                      ? "equal to " + shown(limit)
                      : concat("within ", shown(100 * tolerance), " % of ", shown(limit));
      margin = tolerance - std::abs(value / limit - 1);
      break;
    case Relation::yes_or_no:
      margin = holds ? INFINITY : -INFINITY;
      break;
  }
  if (std::isnan(margin)) margin = 0;
}

bool Evidence::Item::can_be_ratio() const {
  return value > 0 && limit > 0 && tolerance < 1 && std::isfinite(value) && std::isfinite(limit);
}

double Evidence::Item::to_lower(bool is_ratio) const {
  if (relation == Relation::at_most || relation == Relation::below) return INFINITY;
  return apart(value, limit - tolerance * std::abs(limit), is_ratio);
}

double Evidence::Item::to_upper(bool is_ratio) const {
  if (relation == Relation::at_least || relation == Relation::above) return INFINITY;
  return apart(limit + tolerance * std::abs(limit), value, is_ratio);
}

Evidence::Item& Evidence::add(const std::string& what, double value, Item::Relation relation,
                              double limit, double tolerance) {
  Item& item = items_.emplace_back();
  item.what = prefix_ + what;
  item.text = text_;
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
  const auto all_of = [&](auto is) { return std::all_of(of_seeds.begin(), of_seeds.end(), is); };
  // Where the number of a seed cannot tell, that of all cannot.
  const auto one = std::find_if(of_seeds.begin(), of_seeds.end(),
                                [](const Item* i) { return i->is_yes_or_no(); });
  Item item = one == of_seeds.end() ? *of_seeds.front() : **one;
  const bool is_sure = all_of([](const Item* i) { return i->is_sure; });
  const bool is_same = all_of([&](const Item* i) { return i->holds == item.holds; });
  const bool is_ratio = all_of([](const Item* i) { return i->can_be_ratio(); });
  std::vector<double> limits, lower, upper;
  item.by_seed.clear();
  double squares = 0, sum = 0;
  for (const Item* const of : of_seeds) {
    item.by_seed.push_back(of->value);
    limits.push_back(of->limit);
    lower.push_back(of->to_lower(is_ratio));
    upper.push_back(of->to_upper(is_ratio));
    squares += of->half_width * of->half_width;
    sum += of->half_width;
  }
  item.value = analysis::mean_of(item.by_seed);
  item.is_sure = is_sure && is_same;
  if (item.is_yes_or_no()) return item;
  item.limit = analysis::mean_of(limits);
  item.judge();
  const auto n = static_cast<double>(of_seeds.size());
  const double own = (item.is_same_in_all_seeds ? sum : std::sqrt(squares)) / n;
  const double own_half_width = std::isnan(own) ? 0 : own / (is_ratio ? item.value : 1);
  const Side to_lower = side_of(lower, own_half_width), to_upper = side_of(upper, own_half_width);
  const bool is_inside = to_lower.is_surely_inside() && to_upper.is_surely_inside(),
             is_outside = to_lower.is_surely_outside() || to_upper.is_surely_outside();
  const bool has_interval = of_seeds.size() > 1 || !std::isnan(own);
  const bool is_finite = all_of([](const Item* i) { return std::isfinite(i->value); });
  // An infinite number has no interval: the seeds have to agree.
  if (has_interval && is_finite)
    item.is_sure =
        is_sure && (item.holds ? is_inside : is_outside || (is_same && item.margin == 0));
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
    // Missing in some seeds and not asked for in the others, which have what it stands for.
    if (there.empty() && items.size() < of_seeds.size()) continue;
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

std::vector<const Evidence::Item*> Evidence::deciding() const {
  const bool has_failed = verdict() == Verdict::fail;
  std::vector<const Item*> deciding;
  for (const Item& item : items_)
    if (!item.is_missing && (!has_failed || (item.is_sure && !item.holds)))
      deciding.push_back(&item);
  return deciding;
}

size_t Evidence::n_seed() const {
  const bool has_failed = verdict() == Verdict::fail;
  size_t least = 0;
  for (const Item* const item : deciding()) {
    const size_t n = item->by_seed.size();
    // One number that surely fails is enough; a pass needs all of them.
    least = least == 0 ? n : has_failed ? std::max(least, n) : std::min(least, n);
  }
  return least;
}

std::string Evidence::one_seed_note() const {
  if (n_seed() != 1) return "";
  const bool has_more = std::any_of(items_.begin(), items_.end(),
                                    [](const Item& item) { return item.by_seed.size() > 1; });
  std::vector<std::string> texts;
  for (const Item* const item : deciding())
    if (item->by_seed.size() == 1 && !item->text.empty() &&
        std::find(texts.begin(), texts.end(), item->text) == texts.end())
      texts.push_back(item->text);
  return has_more && !texts.empty() ? "one seed on " + joined(texts) : "one seed";
}

}  // namespace farfield::sweep
