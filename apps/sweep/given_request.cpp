#include "apps/sweep/given_request.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "apps/cli/lists.h"
#include "apps/eval/protocol.h"
#include "apps/run/corpus.h"
#include "apps/run/folder.h"
#include "apps/sweep/grid.h"
#include "data/tokenizer.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";

std::vector<std::string> ids_with_base_arm() {
  std::vector<std::string> ids;
  for (const Experiment& e : experiments())
    if (!e.base_arm.empty()) ids.push_back(e.id);
  return ids;
}

// Why the run's tokenizer cannot ask the questions of an experiment; empty if it can.
std::string misfit_of_tokenizer(const GivenRun& given, const Experiment& e) {
  constexpr std::string_view kDigits = "0123456789";
  if (std::none_of(e.measures.begin(), e.measures.end(), [](const Measure& m) {
        return eval::protocol_named(m.protocol).needs_tokenizer;
      }))
    return "";
  const data::TokenizerPtr tokenizer = run::tokenizer_of(run::RunFolder::open(given.path));
  std::vector<int32_t> ids;
  if (tokenizer != nullptr && tokenizer->has_text()) tokenizer->encode(kDigits, ids);
  const bool keeps = !ids.empty() && tokenizer->decode(ids).find(kDigits) != std::string::npos;
  return keeps ? "" : "asks for numbers in text, and the run's tokenizer does not keep digits";
}

// Why an experiment does not change the run; empty if it can.
std::string why_not(const GivenRun& given, const Experiment& e) {
  if (!e.base_arm.empty()) {
    const std::string model = misfit(given, e);
    return model.empty() ? misfit_of_tokenizer(given, e) : model;
  }
  return !e.not_run.empty() ? e.not_run
         : e.arms.empty()   ? "looks at no trained model"
                            : "trains its own models";
}

}  // namespace

std::shared_ptr<const GivenRun> given_for(const std::string& base, const fs::path& out) {
  if (base.empty()) return nullptr;
  std::optional<int64_t> step;
  std::error_code status;
  if (fs::exists(out / "sweep.json", status))
    if (const auto own = SweepFolder(out).options().given) step = own->step;
  return std::make_shared<GivenRun>(open_given(base, step));
}

std::vector<std::string> ids_on_given(const GivenRun& given, const std::vector<std::string>& words,
                                      std::ostream& said) {
  std::vector<std::string> ids, left_out;
  for (const std::string& word : words) {
    require<ConfigError>(!is_grid_file(word), kWhere, "--base: expected no grid, whose models ",
                         "start from random weights, got ", word, "; expected some of ",
                         joined(ids_with_base_arm()));
    bool is_found = false;
    std::string why;
    for (const Experiment* e : experiments_matching({word})) {
      const std::string not_this = why_not(given, *e);
      if (not_this.empty()) {
        cli::add_new(ids, e->id);
        is_found = true;
      } else {
        cli::add_new(left_out, concat(e->id, ": left out: ", not_this));
        if (why.empty() || !e->base_arm.empty()) why = concat(e->id, ' ', not_this);
      }
    }
    require<ConfigError>(is_found, kWhere, "--base ", given.name, ": expected some of ",
                         joined(ids_with_base_arm()), ", which change one trained model, got '",
                         word, "'; ", why, ". eval ", given.name,
                         " --posenc EXPR --protocol coherence measures one change");
  }
  for (const std::string& line : left_out) said << line << '\n';
  return ids;
}

void use_own_text(const GivenRun& given, Datasets& datasets) {
  if (datasets.names().count("text") == 0) datasets.map(own_text(given));
}

void require_its_tokens(const GivenRun& given, const SweepFolder& folder,
                        const std::vector<Cell>& open) {
  std::set<std::string> corpora;
  for (const Cell& cell : open) corpora.insert(cell.corpus);
  for (const std::string& name : corpora)
    require_its_tokens(given, folder.options().datasets.corpus(name).path);
}

}  // namespace farfield::sweep
