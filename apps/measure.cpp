#include "apps/measure.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "apps/cell_files.h"
#include "apps/protocols/truncated.h"
#include "apps/results_json.h"
#include "apps/results_plots.h"
#include "apps/scorer.h"
#include "apps/text_stream.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"

namespace fs = std::filesystem;

namespace farfield::apps {

namespace {

// Leaves scores alone, of passes over the last `window` inputs.
void truncate(Subject& subject, int64_t window, int64_t batch_tokens) {
  subject.model = nullptr;
  subject.make_scorer = [whole = subject.make_scorer, window, batch_tokens](uint64_t draw) {
    return truncated(whole(draw), window, batch_tokens);
  };
  subject.scorer = subject.make_scorer(0);
}

std::string slug_of(const posenc::Composition& encoding, const Unmatched& unmatched) {
  if (unmatched.mapped.empty()) return encoding.slug();
  return concat(encoding.slug(), "-map-", hash_hex(unmatched.mapped).substr(0, 8));
}

}  // namespace

RunResult measure(const LoadedRun& run, const data::Corpus& corpus, const std::string& split,
                  const std::string& protocol, const EvalOptions& asked,
                  const MeasureOptions& options) {
  const EvalOptions eval = with_batch_tokens(asked, run.model, run.device);
  const std::optional<uint64_t> order =
      options.in_file_order ? std::nullopt : std::optional<uint64_t>(run.config.seed);
  const posenc::Composition encoding(run.posenc, run.model.encoding().config());
  Subject subject = subject_of(run.model, run.device, stream_of_split(corpus, split, order),
                               run.config.seed, options.watch);
  subject.step = {.batch_size = *run.config.batch,
                  .accumulate = run.config.accumulate,
                  .checkpointing = run.config.checkpoint_activations};
  subject.baseline = options.baseline.label();
  if (subject.is_truncated()) truncate(subject, options.baseline.window, eval.common.batch_tokens);
  // What reads no text has no rows that others asked for, and speed must run what it times.
  if (options.memory != nullptr && !subject.is_random && protocol_named(protocol).has_text)
    subject.scorer = remembering(subject.scorer, *options.memory);
  subject.cells = cell_files(run.folder.eval() / "cells", model_key(run), options.again);
  if (!options.keep) subject.cells.keep = nullptr;
  return {.run = run.folder.path().string(),
          .posenc = with_map(encoding.canonical(), run.unmatched),
          .posenc_slug = slug_of(encoding, run.unmatched),
          .trained_posenc = run.config.posenc,
          .baseline = subject.baseline,
          .seed = run.config.seed,
          .train_len = *run.config.train_len,
          .step = run.state.step,
          .data_hash = corpus.hash(),
          .split = split,
          .result = evaluate(protocol, subject, eval)};
}

fs::path write_results(const fs::path& folder, const std::vector<RunResult>& results,
                       std::string* no_plot) {
  std::error_code status;
  fs::create_directories(folder, status);
  require<IoError>(!status, "eval", folder.string(),
                   ": cannot make the folder: ", status.message());
  const std::string stem = file_stem(results);
  const fs::path csv = folder / (stem + ".csv");
  write_file_atomic(csv, results_csv(results));
  write_file_atomic(folder / (stem + ".json"), results_json(results));
  const auto write_rows = [&](const char* suffix, const std::string& text) {
    if (std::count(text.begin(), text.end(), '\n') > 1)  // more than a header
      write_file_atomic(folder / (stem + suffix), text);
  };
  if (results.size() == 1) write_rows("-items.csv", items_csv(results.front()));
  write_rows("-series.csv", series_csv(results));
  std::string why;
  for (const auto& [suffix, plot] : results_plots(results))
    if (const std::string svg = draw_svg_or_say(plot, why); !svg.empty())
      write_file_atomic(folder / (stem + suffix + ".svg"), svg);
  if (no_plot != nullptr && !why.empty()) *no_plot = why;
  return csv;
}

}  // namespace farfield::apps
