#include "apps/eval/measure.h"

#include <algorithm>
#include <optional>

#include "apps/eval/finished_results.h"
#include "apps/eval/protocol.h"
#include "apps/eval/results_heat_maps.h"
#include "apps/eval/results_json.h"
#include "apps/eval/results_plots.h"
#include "apps/eval/text_stream.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/write_target.h"

namespace fs = std::filesystem;

namespace farfield::eval {
namespace {

std::string slug_of(const run::LoadedRun& run) {
  const std::string slug = posenc::slug_of(run.posenc), &mapped = run.unmatched.mapped;
  return mapped.empty() ? slug : concat(slug, "-map-", hash_hex(mapped).substr(0, 8));
}

struct Tables {
  std::string stem;  // of the files' names
  const std::vector<RunResult>& results;
};

// CSV and JSON. Returns the path of the first CSV.
fs::path write_tables(const fs::path& folder, const Tables& tables) {
  make_folder(folder);
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
  const auto write = [&](const std::string& suffix, const std::string& svg) {
    if (!svg.empty()) write_file_atomic(folder / (file_stem(results) + suffix + ".svg"), svg);
  };
  for (const auto& [suffix, plot] : results_plots(results))
    write(suffix, plot::draw_svg_or_say(plot, why));
  for (const NamedHeatMap& one : results_heat_maps(results))
    write(one.suffix, plot::draw_or_say([&] { return plot::draw_svg(one.map); }, why));
  if (no_plot != nullptr && !why.empty()) *no_plot = why;
}

}  // namespace

RunResult measure(const run::LoadedRun& run, const data::Corpus& corpus, const std::string& split,
                  const std::string& protocol, const EvalOptions& eval,
                  const MeasureOptions& options) {
  const std::optional<uint64_t> order =
      options.in_file_order ? std::nullopt : std::optional<uint64_t>(run.config.seed);
  const bool has_text = corpus.has_split(split) || run.config.task.empty();
  require<ConfigError>(has_text || !protocol_named(protocol).has_text, "eval",
                       "bad_argument: --protocol ", protocol, ": expected a run that reads text, ",
                       "got ", run.folder.path().string(), ", which was trained on ",
                       run.config.task, "; --protocol task measures it");
  require<ConfigError>(!run.config.is_masked() || protocol_named(protocol).is_of_masked, "eval",
                       "bad_argument: --protocol ", protocol, ": expected a causal model, got ",
                       run.folder.path().string(),
                       ", an encoder that was trained on masked text; --protocol masked measures "
                       "it");
  TokenStream text;
  text.id = run.config.task;
  if (has_text) text = stream_of_split(corpus, split, order);
  Subject subject = subject_of(run.model, run.config.device, text, run.config.seed, options.watch);
  subject.model.task = run.config.task;
  subject.model.mask_token = run.mask_token;
  subject.model.baseline = options.baseline;
  subject.model.step = train::shape_of(run.config);
  run::Settings key = model_key(run);
  key.emplace_back("text", subject.text.id);
  RunResult measured = {.run = run.folder.path().string(),
                        .name = run.config.name,
                        .posenc = run::with_map(run.posenc, run.unmatched),
                        .posenc_slug = slug_of(run),
                        .trained_posenc = run.config.posenc(),
                        .baseline = options.baseline.label(),
                        .seed = run.config.seed,
                        .train_len = run.config.train_len(),
                        .step = run.state.step,
                        .data_hash = corpus.hash(),
                        .split = split,
                        .document_order = document_order_of(protocol, subject.text.id),
                        .precision = run::value_of(key, "precision"),
                        .device = run::value_of(key, "device"),
                        .model_hash = run.model_hash};
  measured.setting = run::setting_of(run.folder.config(), key, run.config.seed);
  measured.setting.emplace_back("tokens", std::to_string(run.state.tokens));
  key.emplace_back("baseline", measured.baseline);
  key.emplace_back("seed", std::to_string(run.config.seed));
  subject.session.cells.emplace(run.folder.eval() / "cells", std::move(key),
                                CellFiles::Use{.find = !options.again, .keep = options.keep});
  subject.session.rows = options.memory;
  subject.session.sharing = options.sharing;
  subject.session.finished = options.finished;
  measured.result = evaluate(protocol, subject, eval);
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
    for (LengthResult& cell : own->result.lengths)  // older kept cells have no places
      for (const LengthResult& now : measured.result.lengths)
        if (cell.length == now.length && cell.places.empty()) cell.places = now.places;
    shown.result = own->result;  // with finished cells of earlier calls
  }
  written.csv = write_tables(run.folder.eval(), {protocol, all});
  write_plots(run.folder.eval(), {shown}, no_plot);
  return written;
}

}  // namespace farfield::eval
