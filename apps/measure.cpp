#include "apps/measure.h"

#include <system_error>

#include "apps/scorer.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace fs = std::filesystem;

namespace farfield::apps {

RunResult measure(const LoadedRun& run, const data::Corpus& corpus, const std::string& split,
                  const std::string& protocol, const EvalOptions& eval) {
  const data::TokenFile& tokens = corpus.split(split);
  const posenc::Composition& encoding = run.model.encoding();
  return {.run = run.folder.path().string(),
          .posenc = encoding.canonical(),
          .posenc_slug = encoding.slug(),
          .trained_posenc = run.config.posenc,
          .seed = run.config.seed,
          .train_len = *run.config.train_len,
          .step = run.state.step,
          .data_hash = corpus.hash(),
          .split = split,
          .bytes_per_token = tokens.bytes_per_token(),
          .result = evaluate(protocol, run.model, run.device, stream_of_split(tokens), eval,
                             run.config.seed)};
}

fs::path write_results(const fs::path& folder, const std::vector<RunResult>& results) {
  std::error_code status;
  fs::create_directories(folder, status);
  require<IoError>(!status, "eval", folder.string(),
                   ": cannot make the folder: ", status.message());
  const std::string stem = file_stem(results);
  const fs::path csv = folder / (stem + ".csv");
  write_file_atomic(csv, results_csv(results));
  if (results.size() == 1)
    write_file_atomic(folder / (stem + "-items.csv"), items_csv(results.front()));
  const Plot plot = results_plot(results);
  if (can_plot() && has_points(plot)) write_file_atomic(folder / (stem + ".svg"), draw_svg(plot));
  return csv;
}

}  // namespace farfield::apps
