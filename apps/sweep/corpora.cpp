#include "apps/sweep/corpora.h"

#include "apps/cli/signals.h"
#include "apps/run/found_text.h"
#include "data/corpus.h"
#include "data/prepare.h"
#include "data/synthetic/synthesize.h"
#include "engine/base/error.h"
#include "engine/base/interrupt.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

constexpr std::string_view kWhere = "sweep";

void check_stop() { require<Interrupted>(!cli::stop_requested(), kWhere, "stopped on request"); }

void make(const std::string& name, const fs::path& folder) {
  if (is_synthetic(name)) {
    data::SyntheticOptions options = data::synthetic_options(name);
    options.output = folder;
    data::synthesize(options, [](const data::SynthesisProgress&) { check_stop(); });
    return;
  }
  data::PrepareOptions options = run::found_text();
  options.output = folder;
  options.source.max_bytes = 16'000'000;
  data::prepare(options, [](const data::PrepareProgress&) { check_stop(); });
}

// Whether the sweep made this corpus itself, and it was not moved along with sweep.json.
bool is_lost(const SweepFolder& folder, const PlannedDataset& dataset) {
  const auto known = folder.options().datasets.corpora().find(dataset.corpus);
  if (known == folder.options().datasets.corpora().end()) return true;
  const fs::path own = fs::absolute(folder.corpora() / dataset.corpus).lexically_normal();
  return is_synthetic(dataset.corpus) && known->second.path == own.string() &&
         !data::is_corpus_folder(own);
}

}  // namespace

std::set<std::string> missing_corpora(const SweepFolder& folder, const std::vector<Plan>& plans) {
  std::set<std::string> missing;
  for (const Plan& plan : plans)
    for (const PlannedDataset& dataset : plan.datasets)
      if (!dataset.is_of_tasks && is_lost(folder, dataset)) missing.insert(dataset.corpus);
  return missing;
}

void make_corpora(SweepFolder& folder, const std::set<std::string>& missing, std::ostream& out) {
  Datasets& datasets = folder.options().datasets;
  const cli::StopSignals signals;
  for (const std::string& name : missing) {
    const fs::path path = folder.corpora() / name;
    if (!data::is_corpus_folder(path)) {
      out << "making the corpus " << name
          << (is_synthetic(name) ? "" : concat(" from ", run::kFoundText)) << std::endl;
      make(name, path);
    }
    const auto known = datasets.corpora().find(name);
    const std::string hash = known == datasets.corpora().end() ? "" : known->second.hash;
    datasets.map(name + '=' + path.string());
    require<ConfigError>(hash.empty() || hash == datasets.corpus(name).hash, kWhere, path.string(),
                         ": expected the corpus of this sweep again (hash ", hash, "), made hash ",
                         datasets.corpus(name).hash, "; choose another --out");
  }
}

void require_corpora(const SweepFolder& folder, const std::vector<Cell>& open) {
  const Datasets& datasets = folder.options().datasets;
  std::set<std::string> checked;
  for (const Cell& cell : open) {
    if (cell.has_task() || !checked.insert(cell.corpus).second) continue;
    const KnownCorpus& known = datasets.corpus(cell.corpus);
    require<IoError>(data::is_corpus_folder(known.path), kWhere, known.path,
                     ": expected the corpus ", cell.corpus, " (hash ", known.hash,
                     "), got none; --dataset NAME=CORPUS says where it is now");
  }
}

}  // namespace farfield::sweep
