#include "apps/sweep/text.h"

#include <set>

#include "apps/cli/signals.h"
#include "apps/run/found_text.h"
#include "data/corpus.h"
#include "data/prepare.h"
#include "data/synthetic/synthesize.h"
#include "engine/base/error.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

void check_stop() { require<Error>(!cli::stop_requested(), "sweep", "stopped on request"); }

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

}  // namespace

void ensure_corpora(SweepFolder& folder, const std::vector<Plan>& plans, std::ostream& out) {
  Datasets& datasets = folder.options().datasets;
  std::set<std::string> wanted;
  for (const Plan& plan : plans)
    for (const PlannedDataset& dataset : plan.datasets)
      if (dataset.hash.empty()) wanted.insert(dataset.corpus);
  const cli::StopSignals signals;
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
