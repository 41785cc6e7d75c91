#include "apps/sweep/experiment.h"

#include <fnmatch.h>

#include <algorithm>

#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {

std::vector<std::vector<Experiment>> experiment_rows();  // made by CMake

bool Output::shows(const Arm& arm) const {
  return groups.empty() || std::find(groups.begin(), groups.end(), arm.group) != groups.end();
}

bool Experiment::is_of_tasks() const {
  return std::any_of(arms.begin(), arms.end(), [](const Arm& arm) { return !arm.task.empty(); });
}

Finding own_finding(const std::string& id, decltype(Finding::check) check,
                    const std::string& statement) {
  return {.claim = id, .check = check, .statement = statement};
}

Experiment without_models(int place, const std::string& id, const std::string& title,
                          const std::string& source, decltype(Experiment::compute) compute,
                          std::vector<Finding> findings) {
  Experiment e;
  e.place = place;
  e.id = id;
  e.title = title;
  e.source = source;
  e.datasets = {};
  e.findings = std::move(findings);
  e.compute = compute;
  return e;
}

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = [] {
    std::vector<Experiment> rows;
    for (std::vector<Experiment>& file : experiment_rows())
      for (Experiment& row : file) rows.push_back(std::move(row));
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Experiment& a, const Experiment& b) { return a.place < b.place; });
    return rows;
  }();
  return all;
}

std::vector<std::string> ids_of(const Experiment& e) {
  std::vector<std::string> ids = {e.id};
  ids.insert(ids.end(), e.also.begin(), e.also.end());
  return ids;
}

const Experiment& experiment_named(const std::string& id) {
  std::vector<std::string> ids;
  for (const Experiment& e : experiments()) {
    for (const std::string& known : ids_of(e)) {
      if (known == id) return e;
      ids.push_back(known);
    }
  }
  fail<ConfigError>("sweep", "expected an experiment (sweep list), got '", id, "'",
                    did_you_mean(id, ids));
}

std::vector<const Experiment*> experiments_matching(const std::vector<std::string>& words) {
  std::vector<bool> is_taken(experiments().size());
  for (const std::string& word : words) {
    bool is_found = false;
    for (size_t i = 0; i < experiments().size(); ++i) {
      const Experiment& e = experiments()[i];
      const std::vector<std::string> names = ids_of(e);
      const bool fits = std::any_of(names.begin(), names.end(),
                                    [&](const std::string& id) {
                                      return ::fnmatch(word.c_str(), id.c_str(), 0) == 0;
                                    }) ||
                        std::any_of(e.findings.begin(), e.findings.end(),
                                    [&](const Finding& f) { return f.claim == word; });
      if (fits) is_taken[i] = is_found = true;
    }
    if (!is_found) experiment_named(word);  // says what is near
  }
  std::vector<const Experiment*> found;
  for (size_t i = 0; i < is_taken.size(); ++i)
    if (is_taken[i]) found.push_back(&experiments()[i]);
  return found;
}

}  // namespace farfield::sweep
