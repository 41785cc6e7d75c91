#include "apps/sweep/text.h"

#include <set>

#include "apps/cli/signals.h"
#include "apps/run/found_text.h"
#include "data/corpus.h"
#include "data/prepare.h"
#include "engine/base/error.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

void make(const std::string& name, const fs::path& folder) {
  require<Error>(!is_synthetic(name), "sweep", name, ": not there yet");
  data::PrepareOptions prepare = run::found_text();
  prepare.output = folder;
  prepare.source.max_bytes = 16'000'000;
  data::prepare(prepare, [](const data::PrepareProgress&) {
    require<Error>(!cli::stop_requested(), "sweep", "stopped on request");
  });
}

}  // namespace

void ensure_corpora(SweepFolder& folder, const std::vector<Plan>& plans, std::ostream& out) {
  Datasets& datasets = folder.options().datasets;
  std::set<std::string> wanted;
  for (const Plan& plan : plans)
    for (const PlannedDataset& dataset : plan.datasets)
      if (dataset.hash.empty()) wanted.insert(dataset.corpus);
  for (const std::string& name : wanted) {
    const fs::path path = folder.corpora() / name;
    if (!data::is_corpus_folder(path)) {
      out << "making the corpus " << name
          << (is_synthetic(name) ? "" : concat(" from ", run::kFoundText)) << std::endl;
      make(name, path);
    }
    datasets.map(name + '=' + path.string());
  }
}

}  // namespace farfield::sweep
