#include "apps/sweep/rehearsal.h"

#include <map>
#include <set>

#include "apps/cli/lists.h"
#include "apps/cli/option.h"
#include "apps/eval/rehearsal.h"
#include "apps/run/resolved_config.h"
#include "apps/run/training_data.h"
#include "apps/sweep/measurement_options.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";

std::string problem_of_training(const run::ResolvedConfig& config, const data::Corpus& corpus) {
  try {
    run::loader_of(config, run::TrainingData(corpus));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// One call of require_enough_text().
class Rehearsal {
 public:
  void look_at(const std::string& experiment, const Cell& cell) {
    const run::ResolvedConfig config = run::config_of_file(cell.label(), cell.training);
    const data::Corpus& corpus = corpus_of(config.data.front().path);
    const std::string length = std::to_string(config.train_len());
    if (!cell.is_given)
      note(experiment, cell.corpus, "training", std::to_string(config.longest()),
           once(concat(cell.corpus_hash, " train ", length, ' ', config.longest(), ' ',
                       static_cast<int>(config.order)),
                [&] { return problem_of_training(config, corpus); }));
    for (const Measurement& m : cell.measurements) {
      Measurement alike = m;  // under any expression
      alike.posenc.clear();
      note(experiment, cell.corpus, m.protocol,
           joined(cli::split_list(run::value_of(m.options, "lengths"))),
           once(concat(cell.corpus_hash, ' ', alike.id(), ' ', length), [&] {
             return eval::problem_of(m.protocol, options_of(m), corpus, split_of(m),
                                     config.train_len());
           }));
    }
  }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  const data::Corpus& corpus_of(const std::string& path) {
    const auto found = corpora_.find(path);
    if (found != corpora_.end()) return found->second;
    return corpora_.emplace(path, data::Corpus::open(path)).first->second;
  }

  template <class F>
  std::string once(const std::string& name, const F& look) {
    const auto found = known_.find(name);
    return found != known_.end() ? found->second : known_[name] = look();
  }

  void note(const std::string& experiment, const std::string& corpus, const std::string& what,
            const std::string& lengths, const std::string& problem) {
    if (!problem.empty())
      cli::add_new(problems_, concat(experiment, ": ", what, lengths.empty() ? "" : " at ", lengths,
                                     " on ", corpus, ": ", problem));
  }

  std::map<std::string, data::Corpus> corpora_;  // by path
  std::map<std::string, std::string> known_;     // problems by measurement
  std::vector<std::string> problems_;
};

}  // namespace

void require_enough_text(const std::vector<Plan>& plans, const std::vector<Cell>& open) {
  std::set<std::string> hashes;
  for (const Cell& cell : open) hashes.insert(cell.hash());
  Rehearsal rehearsal;
  for (const Plan& plan : plans)
    for (const Cell& cell : plan.cells)
      if (!cell.has_task() && !cell.corpus_hash.empty() && hashes.count(cell.hash()) != 0)
        rehearsal.look_at(plan.experiment->id, cell);
  require<IoError>(rehearsal.problems().empty(), kWhere,
                   "nothing was trained: ", joined(rehearsal.problems(), "\n"),
                   "\nshorter lengths (lengths, train-len of a grid), or a corpus of more text");
}

}  // namespace farfield::sweep
