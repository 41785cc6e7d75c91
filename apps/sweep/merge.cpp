#include "apps/sweep/merge.h"

#include <map>
#include <system_error>
#include <tuple>
#include <vector>

#include "apps/sweep/given_run.h"
#include "apps/sweep/results.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep merge";

void require_same(const fs::path& from, const char* what, const std::string& ours,
                  const std::string& theirs) {
  require<ConfigError>(ours == theirs, kWhere, from.string(), ": expected a sweep of the same ",
                       what, ", ", ours, ", got ", theirs);
}

std::string name_of(const std::shared_ptr<const GivenRun>& given) {
  return given ? concat("step ", given->step, " of weights ", given->hash) : "none";
}

// Where the other machine has its text says nothing here: this sweep would have it in its own
// folder.
std::string place_in(const SweepFolder& into, const std::string& corpus) {
  return fs::absolute(into.corpora() / corpus).lexically_normal().string();
}

void take_datasets(SweepFolder& into, const SweepFolder& from) {
  Datasets& ours = into.options().datasets;
  for (const auto& [name, corpus] : from.options().datasets.names()) {
    KnownCorpus theirs = from.options().datasets.corpus(corpus);
    if (const auto own = ours.names().find(name); own != ours.names().end()) {
      require_same(from.path(), ("text for " + name).c_str(),
                   concat(own->second, " (hash ", ours.corpus(own->second).hash, ')'),
                   concat(corpus, " (hash ", theirs.hash, ')'));
      continue;
    }
    if (const auto own = ours.corpora().find(corpus); own != ours.corpora().end())
      require_same(from.path(), ("text of the name " + corpus).c_str(), own->second.hash,
                   theirs.hash);
    theirs.path = place_in(into, corpus);
    ours.set(name, corpus, theirs);
  }
}

void take_experiments(SweepFolder& into, const SweepFolder& from) {
  std::vector<const Experiment*> papers;
  for (const Experiment* e : from.experiments())
    if (!e->is_own) papers.push_back(e);
  into.ask_as(from);
  into.add(papers, from.options().seeds);
  for (const auto& [name, text] : from.grids()) {
    const auto own = into.grids().find(name);
    require<ConfigError>(own == into.grids().end() || own->second == text, kWhere,
                         from.path().string(), ": expected the same grid ", name,
                         ", got another one; rename the file of one of them");
    if (own == into.grids().end()) into.add_grid(name, text);
  }
}

// "nll 1.23", or "17 wrong answers" of a task, whose measurement has no nll.
std::string number_of(const eval::LengthResult& of) {
  for (const eval::Quantity& quantity : of.quantities)
    if (quantity.name == "wrong_answers") return concat(quantity.value, " wrong answers");
  return concat("nll ", of.mean_nll, of.failure);
}

// One call of merge(): the state of all cells of the two folders.
class Comparison {
 public:
  explicit Comparison(const SweepFolder& into) {
    for (const Cell& cell : cells_of(into.plans())) planned_.emplace(cell.hash(), cell);
  }

  // Existing results may belong to an older version of a grid.
  void add_ours(const CellResult& result) {
    if (const auto cell = planned_.find(result.hash); cell != planned_.end())
      compare_with_seed(cell->second, result);
  }
  void add_theirs(const fs::path& folder, const CellResult& result) {
    const auto cell = planned_.find(result.hash);
    require<ConfigError>(cell != planned_.end(), kWhere, result_path(folder, result.hash).string(),
                         ": expected a cell of the sweep's experiments, got ",
                         run::value_of(result.key, "posenc"), ", seed ",
                         run::value_of(result.key, "seed"), ", on a corpus of hash ",
                         run::value_of(result.key, "corpus"));
    compare_with_seed(cell->second, result);
  }

  // Two results of one measurement of one cell.
  void compare(const CellResult& ours, const std::string& id, const eval::ProtocolResult& theirs) {
    const eval::ProtocolResult& own = ours.measured.at(id);
    for (size_t i = 0; i < std::min(own.lengths.size(), theirs.lengths.size()); ++i) {
      const eval::LengthResult &a = own.lengths[i], &b = theirs.lengths[i];
      const bool is_same =
          a.failure == b.failure && a.n_scored == b.n_scored &&
          (a.mean_nll == b.mean_nll || (std::isnan(a.mean_nll) && std::isnan(b.mean_nll))) &&
          (!std::isnan(a.mean_nll) || number_of(a) == number_of(b));
      require<ConfigError>(is_same, kWhere, planned_.at(ours.hash).label(), ", ", own.protocol,
                           " at ", a.length, ": expected the number that is there, ", number_of(a),
                           ", got ", number_of(b),
                           "; one cell was made on both machines: remove results/", ours.hash,
                           ".json of one of them");
    }
  }

 private:
  // All models of a seed are measured in the same way, on the same tokens.
  void compare_with_seed(const Cell& cell, const CellResult& all) {
    for (const auto& [id, result] : all.measured) compare_with_seed(cell, id, result);
  }
  void compare_with_seed(const Cell& cell, const std::string& id,
                         const eval::ProtocolResult& result) {
    for (const eval::LengthResult& length : result.lengths) {
      const Key key{cell.corpus_hash, cell.seed(), id, length.length};
      const auto [first, is_new] =
          known_.try_emplace(key, Known{cell.label(), result.parameters, length.tokens});
      if (is_new) continue;
      const Known& known = first->second;
      const auto require_equal = [&](const char* what, const std::string& a, const std::string& b) {
        require<ConfigError>(a == b, kWhere, cell.label(), ", ", result.protocol, " at ",
                             length.length, ": expected the ", what, " of ", known.label, " (", a,
                             "), got ", b, "; the two were not measured alike");
      };
      require_equal("parameters", known.parameters, result.parameters);
      require_equal("tokens", known.tokens, length.tokens);
    }
  }

  using Key = std::tuple<std::string, uint64_t, std::string, int64_t>;
  struct Known {
    std::string label, parameters, tokens;
  };
  std::map<std::string, Cell> planned_;
  std::map<Key, Known> known_;
};

}  // namespace

Merged merge(const fs::path& into_path, const fs::path& from_path) {
  const SweepFolder from(from_path);
  PlanOptions options = from.options();
  options.datasets = {};
  std::error_code status;
  const bool is_there = fs::exists(into_path / "sweep.json", status);
  SweepFolder into = is_there ? SweepFolder(into_path) : SweepFolder(into_path, options);
  const PlanOptions& ours = into.options();
  require_same(from_path, "scale", to_word(ours.scale), to_word(options.scale));
  require_same(from_path, "device", ours.device, options.device);
  require_same(from_path, "order of documents", ours.document_order, options.document_order);
  require_same(from_path, "given run", name_of(ours.given), name_of(options.given));
  take_datasets(into, from);
  take_experiments(into, from);

  Comparison comparison(into);
  const Results kept = Results::read({into.results()}), got = Results::read({from.results()});
  for (const auto& [hash, result] : kept.all()) comparison.add_ours(result);
  Merged merged;
  std::vector<CellResult> changed;
  for (const auto& [hash, theirs] : got.all()) {
    comparison.add_theirs(from.results(), theirs);
    const CellResult* const own = kept.find(hash);
    if (own == nullptr) {
      ++merged.n_new;
      changed.push_back(theirs);
      continue;
    }
    CellResult both = *own;
    for (const auto& [id, one] : theirs.measured) {
      if (both.measured.count(id) != 0) {
        comparison.compare(*own, id, one);
        continue;
      }
      both.measured[id] = one;
      if (const auto family = theirs.families.find(id); family != theirs.families.end())
        both.families[id] = family->second;
    }
    const bool is_more = both.measured.size() > own->measured.size();
    ++(is_more ? merged.n_more : merged.n_there);
    if (is_more) changed.push_back(std::move(both));
  }
  into.save();
  for (const CellResult& result : changed) write_result(into.results(), result);
  return merged;
}

}  // namespace farfield::sweep
