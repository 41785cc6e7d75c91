#include <algorithm>
#include <numeric>
#include <span>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/printout.h"
#include "apps/cli/verbose.h"
#include "apps/inspect/commands.h"
#include "apps/run/checkpoint.h"
#include "apps/run/corpus.h"
#include "apps/run/folder.h"
#include "apps/run/resolved_config.h"
#include "apps/run/training_data.h"
#include "apps/train/step_shape.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/base/utf8.h"

namespace farfield::inspect {
namespace {

constexpr std::string_view kWhere = "inspect";

struct BatchesRequest {
  std::string run, named;
  std::vector<std::string> data;
  std::optional<int64_t> step;
  bool csv = false, json = false;
};

// A run as far as its batches go.
struct Source {
  std::string run;
  run::ResolvedConfig config;
  run::TrainState state;
  run::TrainingData data;
};

Source open_source(const BatchesRequest& request) {
  const run::RunFolder run = run::RunFolder::open(request.run);
  run::ResolvedConfig config =
      run::config_of_file((run.path() / "config.conf").string(), run.config());
  require<ConfigError>(config.task.empty(), kWhere, request.run,
                       ": expected a run that reads text, got one that is trained on ", config.task,
                       "; prepare task prints its samples");
  require<ConfigError>(!config.is_imported, kWhere, request.run,
                       ": expected a run of `train`, got one of `model import`, which has no "
                       "training steps");
  run::TrainState state =
      run::load_newest_checkpoint(run.checkpoints(), /*with_optimizer=*/false).state;
  config.data = run::find_data(run);
  if (!request.data.empty()) config.data.clear();
  for (const std::string& use : request.data) config.data.push_back(run::parse_data_use(use));
  run::TrainingData data = run::open_data(config, run::tokenizer_of(run));
  require<IoError>(data.hash() == state.data_hash, kWhere, config.data.front().path,
                   ": expected the data that ", request.run, " was trained on (hash ",
                   state.data_hash, "), got other data (hash ", data.hash(),
                   "); name its folder with --data");
  return {request.run, std::move(config), std::move(state), std::move(data)};
}

// For each place in the file: how many documents end before it.
std::vector<int64_t> documents_before(const data::Tokens& tokens, int32_t end_of_document,
                                      const std::vector<int64_t>& places) {
  constexpr int64_t kPiece = int64_t{1} << 16;
  std::vector<size_t> order(places.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return places[a] < places[b]; });
  std::vector<int64_t> counts(places.size());
  std::vector<int32_t> ids(static_cast<size_t>(kPiece));
  int64_t at = 0, count = 0;
  for (const size_t i : order) {
    while (at < places[i]) {
      const int64_t n = std::min(kPiece, places[i] - at);
      tokens.copy(at, n, ids.data());
      count += std::count(ids.begin(), ids.begin() + n, end_of_document);
      at += n;
    }
    counts[i] = count;
  }
  return counts;
}

// How many documents end before each row of a batch, in the corpus that it is of.
std::vector<int64_t> documents_before(const Source& source,
                                      const std::vector<data::Batch::Row>& rows) {
  std::vector<int64_t> counts(rows.size());
  for (size_t i = 0; i < source.data.corpora().size(); ++i) {
    std::vector<size_t> of;
    std::vector<int64_t> places;
    for (size_t r = 0; r < rows.size(); ++r) {
      if (rows[r].source != i) continue;
      of.push_back(r);
      places.push_back(rows[r].place.begin);
    }
    const data::Corpus& corpus = source.data.corpora()[i];
    const std::vector<int64_t> found =
        documents_before(corpus.split("train"), corpus.tokenizer().end_of_document(), places);
    for (size_t k = 0; k < of.size(); ++k) counts[of[k]] = found[k];
  }
  return counts;
}

// One row for each sequence of the step, in the order in which they are computed; `tokens` makes
// the last field of the ids of a window. With several corpora each row ends with its corpus.
template <class F>
cli::Table sequences_table(const Source& source, int64_t step, const F& tokens) {
  const run::ResolvedConfig& config = source.config;
  const int64_t n_rows = config.batch, n_piece = train::shape_of(config).n_piece();
  const bool is_mixture = source.data.corpora().size() > 1;
  const data::Loader loader = run::loader_of(config, source.data);
  const data::Batch batch = loader.batch(step - 1);
  const int64_t length = batch.seq_len;
  const std::vector<int64_t> documents = documents_before(source, batch.rows);
  cli::Table table = {"sequences",
                      {"step", "piece", "row", "draw", "epoch", "place", "window", "token", "byte",
                       "document", "tokens"}};
  if (is_mixture) table.columns.push_back("corpus");
  for (int64_t row = 0; row < n_rows; ++row) {
    const data::Batch::Row& at = batch.rows[static_cast<size_t>(row)];
    const data::Tokens& file = source.data.corpora()[at.source].split("train");
    const int64_t begin = at.place.begin, piece = row / (n_rows / n_piece);
    std::vector<cli::Cell> fields;
    for (const int64_t value : {step, piece, row, step - 1, at.place.epoch,
                                at.index % loader.per_epoch(at.source, batch.part), at.place.window,
                                begin, file.place(begin).byte, documents[static_cast<size_t>(row)]})
      fields.push_back(value);
    const auto first = batch.inputs.begin() + row * length;
    std::vector<int32_t> ids(first, first + length);
    if (!config.is_masked())
      ids.push_back(batch.targets[static_cast<size_t>((row + 1) * length - 1)]);
    fields.push_back(tokens(ids));
    if (is_mixture) fields.push_back(config.data[at.source].path);
    table.rows.push_back(std::move(fields));
  }
  return table;
}

std::string all_ids(const std::vector<int32_t>& ids) { return joined(ids, " "); }

// How the text of a window begins, on one line.
std::string begin_of_text(const data::Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  constexpr size_t kShown = 32;
  if (!tokenizer.has_text())
    return joined(std::span(ids).first(std::min(kShown, ids.size())), " ") +
           (ids.size() > kShown ? " ..." : "");
  std::string text;
  for (size_t i = 0; i < std::min(kShown, ids.size()); ++i)
    text += ids[i] == tokenizer.end_of_document() ? "\xE2\x90\x83"  // the symbol for end of text
                                                  : tokenizer.decode_within({&ids[i], 1});
  replace_invalid_utf8(text);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') c = ' ';
  return '"' + text + '"' + (ids.size() > kShown ? "..." : "");
}

void print_step(const Source& source, int64_t step, cli::Printout& page) {
  std::ostream& out = page.text();
  const run::ResolvedConfig& config = source.config;
  const data::Loader loader = run::loader_of(config, source.data);
  out << cli::printable(source.run) << ", step " << step << " of " << config.steps << ": "
      << config.batch << " sequences of " << loader.batch(step - 1).seq_len
      << (config.is_masked() ? concat(" tokens, of which a share of ", shortest(config.masked),
                                      " is masked (not shown here)")
                             : " inputs and as many targets")
      << ", seed " << config.seed;
  if (const int64_t n_piece = train::shape_of(config).n_piece(); n_piece > 1)
    out << ", in " << n_piece << " pieces of " << config.batch / n_piece;
  out << '\n';
  for (size_t i = 0; i < source.data.corpora().size(); ++i) {
    const data::Corpus& corpus = source.data.corpora()[i];
    const data::Tokens& file = corpus.split("train");
    out << cli::printable(file.place(0).file) << ": " << file.size() << " tokens, "
        << loader.per_epoch(i) << " windows an epoch"
        << cli::hash_remark(corpus.recorded_hash("train").empty() ? corpus.hash()
                                                                  : corpus.recorded_hash("train"));
    if (source.data.corpora().size() > 1) out << ", weight " << shortest(source.data.weights()[i]);
    out << '\n';
  }
  const auto& skipped = source.state.skipped;
  if (std::find(skipped.begin(), skipped.end(), step) != skipped.end())
    out << "left out of the training: its loss or gradient was not finite\n";
  out << '\n';
  cli::Table table = sequences_table(source, step, [&](const std::vector<int32_t>& ids) {
    return begin_of_text(source.data.tokenizer(), ids);
  });
  table.columns[10].name = "text";
  const auto shorten = [](auto& row) {  // step and draw are for those who compute with it
    row.erase(row.begin() + 3);
    row.erase(row.begin());
  };
  shorten(table.columns);
  for (auto& row : table.rows) shorten(row);
  page.add(table);
}

}  // namespace

int inspect_batches(int argc, const char* const* argv, std::ostream& out) {
  BatchesRequest request;
  cli::Options options("inspect batches",
                       "Prints the data of one training step of a run, in the order of "
                       "computation: windows of the corpus and\ntheir tokens. data/README.md says "
                       "how windows are drawn, so that other programs can replay them.");
  options.add_positional("RUN", request.run, "folder of a training run");
  options.group("What")
      .add("run", request.named, "FOLDER", "the same as RUN")
      .add("step", request.step, "N", "the step, 1 for the first, as in metrics.csv (required)")
      .add_paths("data", request.data, "PATH",
                 "where the run's corpus is now (default: where the run has recorded it)")
      .add("csv", request.csv, "print CSV with all token ids: the inputs and the last target");
  add_json_option(options, request.json);
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(request.run.empty() || request.named.empty(), kWhere,
                       "--run: expected one run, got ", request.run, " too");
  if (request.run.empty()) request.run = request.named;
  require<ConfigError>(!request.run.empty(), kWhere,
                       "expected the folder of a run, got none; inspect batches RUN --step N");
  require<ConfigError>(request.step.has_value(), kWhere,
                       "--step: expected a step of the run, got none; --step 1 is the first");
  require<ConfigError>(!request.csv || !request.json, kWhere, "--json: expected it without --csv");
  const Source source = open_source(request);
  require<ConfigError>(*request.step >= 1 && *request.step <= source.config.steps, kWhere,
                       "--step: expected a step from 1 to ", source.config.steps, ", got ",
                       *request.step);
  if (request.csv) {
    out << cli::csv_of(sequences_table(source, *request.step, all_ids));
    return cli::kDone;
  }
  cli::Printout page(out, "inspect batches", request.json);
  print_step(source, *request.step, page);
  page.finish();
  return cli::kDone;
}

}  // namespace farfield::inspect
