#pragma once

// A search as experiments of the user's own in a sweep's folder: own/search-1, -2 and -3 are the
// rungs of successive halving, own/search-front has the best formulas beside known encodings. So
// `sweep status` and `sweep report` show a search as any other sweep.
//
// The rungs measure the validation split, and decide by it. The last experiment measures the test
// split, as all experiments do.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/sweep/folder.h"
#include "apps/sweep/halving.h"
#include "apps/sweep/search_space.h"

namespace farfield::sweep {

struct SearchRequest {
  uint64_t seed = 1;  ///< of the formulas, not of the training
  std::vector<std::string> on = {"text", "topic"};
};

/// A plan with an experiment that no folder has.
struct OwnPlan {
  std::unique_ptr<Experiment> experiment;
  Plan plan;
};

/// The known encodings beside the best formulas, as the experiment `atlas` trains them.
const std::vector<std::string>& catalogue();

class Search {
 public:
  static constexpr size_t kRungs = 3, kFront = kRungs, kStages = kRungs + 1;

  /// The number of formulas that a folder's search has; 0: the folder has none.
  static int64_t size_in(const SweepFolder& folder);

  /// A new search or the search of the folder, which must have the same formulas, texts and
  /// number: ConfigError otherwise.
  Search(SweepFolder& folder, const SearchRequest& request, const SearchSpace& space);

  /// "search-1", ..., "search-front".
  static std::string name_of(size_t stage);
  /// The plan of a stage, and its cells. The first call adds the experiment to the folder, with the
  /// models that the results of the stage before promote; from then on it stays as it is. Error
  /// where no model of the stage before has results.
  Plan begin(size_t stage);
  std::vector<Cell> cells_of(const Plan& plan, size_t stage) const;

  /// All models of the last rung with the measurements of the front, one seed.
  OwnPlan last_rung_on_test() const;
  const Candidate& candidate(const std::string& name) const;

 private:
  std::string text_of(size_t stage, const std::vector<std::string>& names) const;
  const Experiment* find(size_t stage) const;
  Plan plan_of(const Experiment& e) const;

  SweepFolder& folder_;
  SearchRequest request_;
  SearchSpace space_;
};

/// The expected seconds of each stage of a search of n formulas, one cell after the other.
/// `seconds_of` gives the seconds of a cell. The front has five formulas; finished cells of known
/// encodings count as done.
std::vector<double> seconds_of_stages(const SweepFolder& folder, const SearchRequest& request,
                                      int64_t n,
                                      const std::function<double(const Cell&)>& seconds_of);
/// Known encodings on each text, which the search needs at its end: their times tell the pace. One,
/// or as many as give every job a cell.
OwnPlan first_plan(const SweepFolder& folder, const SearchRequest& request, int64_t jobs);

}  // namespace farfield::sweep
