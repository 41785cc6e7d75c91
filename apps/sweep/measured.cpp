#include "apps/sweep/measured.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/analysis/spread.h"
#include "apps/eval/protocol.h"
#include "apps/eval/results.h"
#include "apps/sweep/measurement_options.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

// The result of one length; null where that was not measured.
const eval::LengthResult* at(const eval::ProtocolResult* result, int64_t length) {
  if (result == nullptr) return nullptr;
  for (const eval::LengthResult& cell : result->lengths)
    if (cell.length == length) return &cell;
  return nullptr;
}

// The longest of the lengths that a protocol's own options give; 0 where it has none.
int64_t longest_own(const Plan& plan, const PlannedDataset& dataset, const Measure& measure) {
  const eval::Protocol& protocol = eval::protocol_named(measure.protocol);
  if (protocol.lengths == nullptr || plan.arms.empty()) return 0;
  const std::vector<int64_t> lengths =
      protocol.lengths(options_of(plan.measurement(measure.key, plan.arms.front(), dataset)));
  return *std::max_element(lengths.begin(), lengths.end());
}

double mean(const std::vector<SeedNumber>& seeds) {
  std::vector<double> values;
  for (const SeedNumber& s : seeds) values.push_back(s.value);
  return analysis::mean_of(values);
}

}  // namespace

Measured::Measured(const Plan& plan, const PlannedDataset& dataset, const Results& results)
    : plan_(&plan), dataset_(&dataset), results_(&results), seeds_(plan.seeds.size()) {
  std::iota(seeds_.begin(), seeds_.end(), size_t{0});
}

// A cell may be there for the sake of another experiment, without the measurements of this one.
bool Measured::has(const PlannedArm& arm, size_t seed, const std::string& measure) const {
  if (!measure.empty()) return result(arm, measure, seed) != nullptr;
  const CellResult* const found = cell(arm, seed);
  return found != nullptr && found->covers(planned_cell(arm, seed));
}

size_t Measured::n_seed(const PlannedArm& arm, const std::string& measure) const {
  return static_cast<size_t>(std::count_if(seeds_.begin(), seeds_.end(),
                                           [&](size_t seed) { return has(arm, seed, measure); }));
}

Measured Measured::on(const PlannedDataset& dataset) const {
  Measured other = *this;
  other.dataset_ = &dataset;
  return other;
}

Measured Measured::as_printed() const {
  Measured other = *this;
  other.is_as_printed_ = true;
  return other;
}

Measured Measured::first_seed() const {
  Measured one = *this;
  one.seeds_.resize(std::min<size_t>(1, seeds_.size()));
  return one;
}

Measured Measured::of_seed(size_t seed) const {
  Measured one = *this;
  one.seeds_ = {seed};
  return one;
}

Measured Measured::of_shared_seeds(const std::vector<const PlannedArm*>& arms,
                                   const std::string& measure) const {
  Measured shared = *this;
  std::erase_if(shared.seeds_, [&](size_t seed) {
    return std::any_of(arms.begin(), arms.end(), [&](const PlannedArm* arm) {
      return !has(*arm, seed, measure) && n_seed(*arm, measure) > 0;
    });
  });
  return shared.seeds_.empty() ? *this : shared;
}

Measured Measured::of_shared_seeds() const {
  std::vector<const PlannedArm*> all;
  for (const PlannedArm& arm : arms()) all.push_back(&arm);
  return of_shared_seeds(all);
}

std::vector<uint64_t> Measured::seeds_used() const {
  std::vector<uint64_t> used;
  for (const size_t i : seeds_) used.push_back(plan_->seeds[i]);
  return used;
}

std::string length_text(double units) { return shortest(units) + " L"; }

double value_at(const eval::Series& series, double x) {
  const auto after = std::lower_bound(series.x.begin(), series.x.end(), x);
  if (after == series.x.end()) return std::nan("");
  const auto k = static_cast<size_t>(after - series.x.begin());
  if (*after == x) return series.y[k];
  if (k == 0) return std::nan("");
  const double part = (x - series.x[k - 1]) / (series.x[k] - series.x[k - 1]);
  return series.y[k - 1] + part * (series.y[k] - series.y[k - 1]);
}

double mean_between(const eval::Series& series, double from, double to) {
  double sum = 0;
  int64_t n = 0;
  for (size_t i = 0; i < series.y.size(); ++i) {
    if (series.x[i] < from || series.x[i] > to) continue;
    sum += series.y[i];
    ++n;
  }
  return n == 0 ? std::nan("") : sum / static_cast<double>(n);
}

const PlannedDataset* Measured::dataset_named(const std::string& name) const {
  for (const PlannedDataset& d : plan_->datasets) {
    const std::string names = ", " + d.name + ", ";
    if (names.find(", " + name + ", ") != std::string::npos) return &d;
  }
  return nullptr;
}

std::vector<const PlannedArm*> Measured::arms(const std::string& group) const {
  std::vector<const PlannedArm*> found;
  for (const PlannedArm& arm : plan_->arms)
    if (arm.arm.group == group) found.push_back(&arm);
  return found;
}

std::vector<const PlannedArm*> Measured::shown(const Output& output) const {
  std::vector<const PlannedArm*> found;
  for (const PlannedArm& arm : plan_->arms)
    if (output.shows(arm.arm)) found.push_back(&arm);
  return found;
}

const PlannedArm* Measured::arm(const std::string& label) const {
  for (const PlannedArm& arm : plan_->arms)
    if (arm.label() == label) return &arm;
  return nullptr;
}

const PlannedArm* Measured::arm_at(const std::string& group, const std::string& name,
                                   double value) const {
  for (const PlannedArm* arm : arms(group)) {
    const auto found = arm->arm.values.find(name);
    if (found != arm->arm.values.end() && found->second == value) return arm;
  }
  return nullptr;
}

int64_t Measured::tokens(const std::string& measure, double length) const {
  for (const Measure& m : experiment().measures) {
    if (m.key != measure) continue;
    if (m.lengths.empty()) return longest_own(*plan_, *dataset_, m);
    const double units =
        length > 0 ? length : *std::max_element(m.lengths.begin(), m.lengths.end());
    return plan_->tokens(units) + m.offset;
  }
  return 0;
}

const CellResult* Measured::cell(const PlannedArm& arm, size_t seed) const {
  return results_->find(planned_cell(arm, seed).hash());
}

const Cell& Measured::planned_cell(const PlannedArm& arm, size_t seed) const {
  const auto index = static_cast<size_t>(&arm - plan_->arms.data());
  const auto dataset = static_cast<size_t>(dataset_ - plan_->datasets.data());
  return plan_->cell(dataset, index, seed);
}

const eval::ProtocolResult* Measured::exact(const PlannedArm& arm, const std::string& measure,
                                            size_t seed) const {
  const CellResult* const found = cell(arm, seed);
  if (found == nullptr) return nullptr;
  const auto one = found->measured.find(plan_->measurement(measure, arm, *dataset_).id());
  return one == found->measured.end() ? nullptr : &one->second;
}

const eval::ProtocolResult* Measured::result(const PlannedArm& arm, const std::string& measure,
                                             size_t seed) const {
  const eval::ProtocolResult* most = exact(arm, measure, seed);
  const CellResult* const found = cell(arm, seed);
  if (most != nullptr || found == nullptr || !experiment().is_own) return most;
  const std::string family = plan_->measurement(measure, arm, *dataset_).family();
  for (const auto& [id, one] : found->measured) {
    const auto of = found->families.find(id);
    if (of != found->families.end() && of->second == family &&
        (most == nullptr || one.lengths.size() > most->lengths.size()))
      most = &one;
  }
  return most;
}

bool Measured::is_of_other_lengths(const PlannedArm& arm, const std::string& measure) const {
  return std::any_of(seeds_.begin(), seeds_.end(), [&](size_t seed) {
    return result(arm, measure, seed) != exact(arm, measure, seed);
  });
}

std::vector<SeedNumber> Measured::seeds(const PlannedArm& arm, const std::string& measure,
                                        const std::string& quantity, double length) const {
  std::vector<SeedNumber> all;
  const auto take = [&](const eval::LengthResult* found, uint64_t seed) {
    if (found == nullptr) return false;
    if (quantity == "perplexity" && found->failure == "nonfinite_logits") {  // it diverged
      all.push_back({seed, INFINITY, found->tokens});
      return true;
    }
    for (const eval::Quantity& q : eval::numbers_of(*found))
      if (q.full_name() == quantity) {
        all.push_back({seed, q.value, found->tokens});
        return true;
      }
    return false;
  };
  for (const size_t i : seeds_) {
    const eval::ProtocolResult* const of = result(arm, measure, i);
    const bool is_found = take(at(of, tokens(measure, length)), plan_->seeds[i]);
    const bool has_whole = of != nullptr && eval::length_name(of->protocol, 0).empty();
    if (!is_found && length <= 0 && has_whole) take(at(of, 0), plan_->seeds[i]);
  }
  return all;
}

std::vector<std::string> Measured::quantities(const std::string& measure, double length) const {
  std::vector<std::string> names;
  for (const PlannedArm& arm : plan_->arms)
    for (const size_t i : seeds_)
      if (const eval::LengthResult* const found =
              at(result(arm, measure, i), tokens(measure, length)))
        for (const eval::Quantity& q : eval::numbers_of(*found))
          if (q.name != "items" &&
              std::find(names.begin(), names.end(), q.full_name()) == names.end())
            names.push_back(q.full_name());
  return names;
}

double Measured::value(const PlannedArm& arm, const std::string& measure,
                       const std::string& quantity, double length) const {
  return mean(seeds(arm, measure, quantity, length));
}

double Measured::value(const std::string& label, const std::string& measure,
                       const std::string& quantity, double length) const {
  const PlannedArm* const found = arm(label);
  return found == nullptr ? std::nan("") : value(*found, measure, quantity, length);
}

double Measured::perplexity(const PlannedArm& arm, double length) const {
  for (const Measure& m : experiment().measures)
    if (eval::protocol_named(m.protocol).has_perplexity)
      return value(arm, m.key, "perplexity", length);
  return std::nan("");
}

double Measured::perplexity(const std::string& label, double length) const {
  const PlannedArm* const found = arm(label);
  return found == nullptr ? std::nan("") : perplexity(*found, length);
}

double Measured::ratio(const PlannedArm& arm, double length, double base) const {
  return perplexity(arm, length) / perplexity(arm, base);
}

double Measured::ratio(const std::string& arm, double length, double base) const {
  return perplexity(arm, length) / perplexity(arm, base);
}

eval::Series Measured::series(const PlannedArm& arm, const std::string& measure,
                              const std::string& name, double length) const {
  eval::Series sum;
  double n = 0;
  for (const size_t i : seeds_) {
    const eval::LengthResult* const found = at(result(arm, measure, i), tokens(measure, length));
    if (found == nullptr) continue;
    for (const eval::Series& s : found->series) {
      if (s.full_name() != name) continue;
      if (n > 0 && s.x != sum.x) continue;
      ++n;
      if (n == 1) {
        sum = s;
      } else {
        for (size_t k = 0; k < sum.y.size(); ++k) sum.y[k] += s.y[k];
        sum.low.clear();
        sum.high.clear();
      }
    }
  }
  for (double& y : sum.y) y /= n;
  return sum;
}

std::vector<eval::Series> Measured::seed_series(const PlannedArm& arm, const std::string& measure,
                                                const std::string& name, double length) const {
  std::vector<eval::Series> all;
  for (const size_t i : seeds_)
    if (const eval::LengthResult* const found =
            at(result(arm, measure, i), tokens(measure, length)))
      for (const eval::Series& s : found->series)
        if (s.full_name() == name && (all.empty() || s.x == all.front().x)) all.push_back(s);
  return all;
}

std::vector<std::string> Measured::series_names(const PlannedArm& arm, const std::string& measure,
                                                double length) const {
  std::vector<std::string> names;
  for (const size_t i : seeds_)
    if (const eval::LengthResult* const found =
            at(result(arm, measure, i), tokens(measure, length))) {
      for (const eval::Series& s : found->series) names.push_back(s.full_name());
      if (!names.empty()) break;
    }
  return names;
}

std::string Measured::failure(const PlannedArm& arm, const std::string& measure,
                              double length) const {
  for (const size_t i : seeds_)
    if (const eval::LengthResult* const found =
            at(result(arm, measure, i), tokens(measure, length));
        found != nullptr && !found->failure.empty())
      return found->failure;
  return "";
}

std::string Measured::parameters(const std::string& measure) const {
  for (const PlannedArm& arm : plan_->arms)
    for (const size_t i : seeds_)
      if (const eval::ProtocolResult* const found = result(arm, measure, i))
        return concat(found->protocol, ": ", found->parameters, " (protocol ", found->hash(), ')');
  return "";
}

double Measured::fact(const PlannedArm& arm, const std::string& name) const {
  std::vector<double> values;
  for (const size_t i : seeds_)
    if (const CellResult* const found = cell(arm, i)) {
      const auto one = found->facts.find(name);
      if (one != found->facts.end()) values.push_back(one->second);
    }
  return analysis::mean_of(values);
}

}  // namespace farfield::sweep
