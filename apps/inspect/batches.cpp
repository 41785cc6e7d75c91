#include <algorithm>
#include <numeric>

#include "apps/cli/csv.h"
#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/text_table.h"
#include "apps/inspect/commands.h"
#include "apps/run/checkpoint.h"
#include "apps/run/corpus.h"
#include "apps/run/folder.h"
#include "apps/run/resolved_config.h"
#include "data/corpus.h"
#include "data/loader.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/base/utf8.h"

namespace farfield::inspect {
namespace {

constexpr std::string_view kWhere = "inspect";

struct Request {
  std::string run, named;
  std::optional<std::string> data;
  std::optional<int64_t> step;
  bool csv = false;
};

// A run as far as its batches go.
struct Source {
  std::string run;
  run::ResolvedConfig config;
  run::TrainState state;
  std::string folder;  // of the corpus
  data::Corpus corpus;
};

Source open_source(const Request& request) {
  const run::RunFolder run = run::RunFolder::open(request.run);
  run::ResolvedConfig config =
      run::config_of_file((run.path() / "config.conf").string(), run.config());
  run::TrainState state =
      run::load_newest_checkpoint(run.checkpoints(), /*with_optimizer=*/false).state;
  std::string folder = request.data ? *request.data : run::find_corpus(run);
  data::Corpus corpus = data::Corpus::open(folder);
  require<IoError>(corpus.hash() == state.data_hash, kWhere, folder, ": expected the data that ",
                   request.run, " was trained on (hash ", state.data_hash,
                   "), got other data (hash ", corpus.hash(), "); name its folder with --data");
  return {request.run, std::move(config), std::move(state), std::move(folder), std::move(corpus)};
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

// One row for each sequence of the step, in the order in which they are computed; `tokens` makes
// the last field of the ids of a window.
template <class F>
std::vector<std::vector<std::string>> rows_of(const Source& source, int64_t step, const F& tokens) {
  const run::ResolvedConfig& config = source.config;
  const int64_t n_rows = config.batch, length = config.train_len();
  const data::Tokens& file = source.corpus.split("train");
  const data::Loader loader(file, n_rows, length, config.seed);
  const data::Batch batch = loader.batch(step - 1);
  const std::vector<int64_t> documents =
      documents_before(file, source.corpus.tokenizer().end_of_document(), batch.begins);
  std::vector<std::vector<std::string>> rows = {{"step", "piece", "row", "draw", "epoch", "place",
                                                 "window", "token", "byte", "document", "tokens"}};
  for (int64_t row = 0; row < n_rows; ++row) {
    const int64_t begin = batch.begins[static_cast<size_t>(row)];
    const int64_t piece = row / (n_rows / config.accumulate);
    const int64_t sequence = (step - 1) * n_rows + row;  // of the whole training
    std::vector<std::string> fields;
    for (const int64_t value :
         {step, piece, row, (step - 1) * config.accumulate + piece, sequence / loader.n_windows(),
          sequence % loader.n_windows(), begin / length, begin, file.place(begin).byte,
          documents[static_cast<size_t>(row)]})
      fields.push_back(std::to_string(value));
    std::vector<int32_t> ids(static_cast<size_t>(length) + 1);
    file.copy(begin, length + 1, ids.data());
    fields.push_back(tokens(ids));
    rows.push_back(std::move(fields));
  }
  return rows;
}

std::string all_ids(const std::vector<int32_t>& ids) { return joined(ids, " "); }

// How the text of a window begins, on one line.
std::string begin_of_text(const data::Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  constexpr size_t kShown = 32;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, ids.size()); ++i)
    text += ids[i] == tokenizer.end_of_document() ? "\xE2\x90\x83"  // the symbol for end of text
                                                  : tokenizer.decode({&ids[i], 1});
  replace_invalid_utf8(text);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') c = ' ';
  return '"' + text + '"' + (ids.size() > kShown ? "..." : "");
}

void print_text(const Source& source, int64_t step, std::ostream& out) {
  const run::ResolvedConfig& config = source.config;
  const data::Tokens& file = source.corpus.split("train");
  const data::Loader loader(file, config.batch, config.train_len(), config.seed);
  out << cli::printable(source.run) << ", step " << step << " of " << config.steps << ": "
      << config.batch << " sequences of " << config.train_len()
      << " inputs and as many targets, seed " << config.seed;
  if (config.accumulate > 1)
    out << ", in " << config.accumulate << " pieces of " << config.batch / config.accumulate;
  out << '\n'
      << cli::printable(file.place(0).file) << ": " << file.size() << " tokens, "
      << loader.n_windows() << " windows an epoch, hash " << source.corpus.recorded_hash("train")
      << '\n';
  const auto& skipped = source.state.skipped;
  if (std::find(skipped.begin(), skipped.end(), step) != skipped.end())
    out << "left out of the training: its loss or gradient was not finite\n";
  out << '\n';
  auto rows = rows_of(source, step, [&](const std::vector<int32_t>& ids) {
    return begin_of_text(source.corpus.tokenizer(), ids);
  });
  rows.front().back() = "text";
  for (auto& row : rows) {  // step and draw are for those who compute with it
    row.erase(row.begin() + 3);
    row.erase(row.begin());
  }
  out << cli::text_table(rows);
}

}  // namespace

int inspect_batches(int argc, const char* const* argv, std::ostream& out) {
  Request request;
  cli::Options options(
      "inspect batches",
      "Prints what a run reads in one training step, in the order in which it is computed: windows "
      "of the\ncorpus and their tokens. data/README.md says how they are drawn, to replay them "
      "elsewhere.");
  options.add_positional("RUN", request.run, "folder of a training run");
  options.group("What")
      .add("run", request.named, "FOLDER", "the same as RUN")
      .add("step", request.step, "N", "the step, 1 for the first, as in metrics.csv (required)")
      .add("data", request.data, "FOLDER",
           "where the run's corpus lies now (default: where it is found)")
      .add("csv", request.csv,
           "comma-separated values with all token ids, inputs and the last target");
  if (!options.parse(argc, argv, out)) return cli::kDone;
  require<ConfigError>(request.run.empty() || request.named.empty(), kWhere,
                       "--run: expected one run, got ", request.run, " too");
  if (request.run.empty()) request.run = request.named;
  require<ConfigError>(!request.run.empty(), kWhere,
                       "expected the folder of a run, got none; inspect batches RUN --step N");
  require<ConfigError>(request.step.has_value(), kWhere,
                       "--step: expected a step of the run, got none; --step 1 is the first");
  const Source source = open_source(request);
  require<ConfigError>(*request.step >= 1 && *request.step <= source.config.steps, kWhere,
                       "--step: expected a step from 1 to ", source.config.steps, ", got ",
                       *request.step);
  if (!request.csv) {
    print_text(source, *request.step, out);
    return cli::kDone;
  }
  for (const auto& row : rows_of(source, *request.step, all_ids)) out << cli::csv_row(row);
  return cli::kDone;
}

}  // namespace farfield::inspect
