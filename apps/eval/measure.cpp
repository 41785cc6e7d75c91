#include "apps/eval/measure.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "apps/eval/cells.h"
#include "apps/eval/finished_results.h"
#include "apps/eval/protocols/items.h"
#include "apps/eval/protocols/truncated.h"
#include "apps/eval/results_json.h"
#include "apps/eval/results_plots.h"
#include "apps/eval/scorer.h"
#include "apps/eval/text_stream.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"

namespace fs = std::filesystem;

namespace farfield::eval {

namespace {

// Leaves scores alone, of passes over the last `window` inputs.
void truncate(Subject& subject, int64_t window, int64_t batch_tokens) {
  subject.model = nullptr;
  subject.make_scorer = [whole = subject.make_scorer, window, batch_tokens](uint64_t draw) {
    return truncated(whole(draw), window, batch_tokens);
  };
  subject.scorer = subject.make_scorer(0);
}

std::string slug_of(const run::LoadedRun& run) {
  const std::string slug = posenc::slug_of(run.posenc), &mapped = run.unmatched.mapped;
  return mapped.empty() ? slug : concat(slug, "-map-", hash_hex(mapped).substr(0, 8));
}

// Finished cells say where their tokens stand in the file of the split: who reads them later may
// not have the text at hand.
void keep_places(Subject& subject) {
  subject.cells.keep = [keep = subject.cells.keep](const Subject& of_subject,
                                                   const ProtocolResult& of,
                                                   const LengthResult& cell) {
    LengthResult placed = cell;
    set_places(placed, of, of_subject.text);
    keep(of_subject, of, placed);
  };
}

struct Tables {
  std::string stem;  // of the files' names
  const std::vector<RunResult>& results;
};

// CSV and JSON. Returns the path of the first CSV.
fs::path write_tables(const fs::path& folder, const Tables& tables) {
  std::error_code status;
  fs::create_directories(folder, status);
  require<IoError>(!status, "eval", folder.string(),
                   ": cannot make the folder: ", status.message());
  const fs::path csv = folder / (tables.stem + ".csv");
  write_file_atomic(csv, results_csv(tables.results));
  write_file_atomic(folder / (tables.stem + ".json"), results_json(tables.results));
  const auto write_rows = [&](const char* suffix, const std::string& text) {
    if (std::count(text.begin(), text.end(), '\n') > 1)  // more than a header
      write_file_atomic(folder / (tables.stem + suffix), text);
  };
  write_rows("-items.csv", items_csv(tables.results));
  write_rows("-series.csv", series_csv(tables.results));
  return csv;
}

void write_plots(const fs::path& folder, const std::vector<RunResult>& results,
                 std::string* no_plot) {
  std::string why;
  for (const auto& [suffix, plot] : results_plots(results))
    if (const std::string svg = plot::draw_svg_or_say(plot, why); !svg.empty())
      write_file_atomic(folder / (file_stem(results) + suffix + ".svg"), svg);
  if (no_plot != nullptr && !why.empty()) *no_plot = why;
}

}  // namespace

RunResult measure(const run::LoadedRun& run, const data::Corpus& corpus, const std::string& split,
                  const std::string& protocol, const EvalOptions& asked,
                  const MeasureOptions& options) {
  const EvalOptions eval = with_batch_tokens(asked, run.model, run.config.device);
  const std::optional<uint64_t> order =
      options.in_file_order ? std::nullopt : std::optional<uint64_t>(run.config.seed);
  Subject subject = subject_of(run.model, run.config.device, stream_of_split(corpus, split, order),
                               run.config.seed, options.watch);
  subject.step = train::shape_of(run.config);
  subject.baseline = options.baseline.label();
  if (subject.is_truncated()) truncate(subject, options.baseline.window, eval.common.batch_tokens);
  // What reads no text has no rows that others asked for, and speed must run what it times.
  if (options.memory != nullptr && !subject.is_random && protocol_named(protocol).has_text)
    subject.scorer = remembering(subject.scorer, *options.memory);
  const run::Settings model = model_key(run);
  subject.cells = cell_files(run.folder.eval() / "cells", model, options.again);
  subject.cells.finished = options.finished;
  if (options.keep)
    keep_places(subject);
  else
    subject.cells.keep = nullptr;
  RunResult measured = {.run = run.folder.path().string(),
                        .name = run.config.name,
                        .posenc = run::with_map(run.posenc, run.unmatched),
                        .posenc_slug = slug_of(run),
                        .trained_posenc = run.config.posenc(),
                        .baseline = subject.baseline,
                        .seed = run.config.seed,
                        .train_len = run.config.train_len(),
                        .step = run.state.step,
                        .data_hash = corpus.hash(),
                        .split = split,
                        .document_order = document_order_of(protocol, subject.text.id),
                        .precision = run::value_of(model, "precision"),
                        .device = run::value_of(model, "device"),
                        .model_hash = run.model_hash,
                        .result = evaluate(protocol, subject, eval)};
  run::Settings key = model;
  key.emplace_back("text", subject.text.id);
  measured.setting = run::setting_of(run.folder.config(), key, run.config.seed);
  measured.setting.emplace_back("tokens", std::to_string(run.state.tokens));
  for (LengthResult& cell : measured.result.lengths)
    set_places(cell, measured.result, subject.text);
  return measured;
}

fs::path write_results(const fs::path& folder, const std::vector<RunResult>& results,
                       std::string* no_plot) {
  const fs::path csv = write_tables(folder, {file_stem(results), results});
  write_plots(folder, results, no_plot);
  return csv;
}

WrittenResults write_run_results(const run::LoadedRun& run, const RunResult& measured,
                                 std::string* no_plot) {
  WrittenResults written;
  const std::string& protocol = measured.result.protocol;
  std::vector<RunResult> all = finished_results(run, protocol, written.damaged);
  add_failed(all, measured);
  RunResult shown = measured;
  if (RunResult* const own = find_like(all, measured)) {
    for (LengthResult& cell : own->result.lengths)  // kept before cells had places
      for (const LengthResult& now : measured.result.lengths)
        if (cell.length == now.length && cell.places.empty()) cell.places = now.places;
    shown.result = own->result;  // with what earlier calls finished
  }
  written.csv = write_tables(run.folder.eval(), {protocol, all});
  write_plots(run.folder.eval(), {shown}, no_plot);
  return written;
}

}  // namespace farfield::eval
