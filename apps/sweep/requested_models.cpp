#include "apps/sweep/requested_models.h"

#include <set>

namespace farfield::sweep {

std::vector<std::string> whole_names(const std::vector<std::string>& pieces,
                                     const std::vector<const Experiment*>& experiments) {
  std::set<std::string> labels;
  for (const Experiment* e : experiments)
    for (const Arm& arm : e->arms) labels.insert(arm.label);
  std::vector<std::string> names;
  for (size_t i = 0; i < pieces.size();) {
    size_t end = i + 1;
    std::string name = pieces[i], longer = name;
    for (size_t j = i + 1; j < pieces.size(); ++j) {
      longer += ", " + pieces[j];
      if (labels.count(longer) == 0) continue;
      name = longer;
      end = j + 1;
    }
    names.push_back(std::move(name));
    i = end;
  }
  return names;
}

std::vector<std::string> test_time_labels(const Experiment& experiment) {
  std::vector<std::string> labels;
  for (const Arm& arm : experiment.arms)
    if (arm.starts_from.empty()) labels.push_back(arm.label);
  return labels;
}

}  // namespace farfield::sweep
