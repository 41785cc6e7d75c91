#include <algorithm>

#include "apps/cli/distances.h"
#include "apps/cli/printout.h"
#include "apps/inspect/commands.h"
#include "apps/inspect/matrix.h"
#include "apps/inspect/registry_list.h"
#include "apps/inspect/show.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "posenc/registry.h"

namespace farfield::inspect {
namespace {

constexpr std::string_view kWhere = "inspect";

struct EncodingRequest {
  SubjectOptions subject;
  std::vector<std::string> distances;
  std::optional<int64_t> length;
  int64_t position = 0;
  bool positions = false, rotation = false, parameters = false, list = false, matrix = false;
  bool csv = false, json = false, markdown = false, log_axis = false;
  std::optional<int64_t> image;
  std::string svg, table = "bias";
};

void check(const EncodingRequest& r) {
  const int n = r.list + r.matrix + r.positions + r.rotation + r.parameters;
  require<ConfigError>(n <= 1, kWhere,
                       "expected one of --list, --matrix, --positions, --rotation and "
                       "--parameters, got ",
                       n);
  require<ConfigError>(!r.json || !(r.csv || r.markdown || !r.svg.empty()), kWhere,
                       "--json: expected it without --csv, --markdown and --svg");
  require<ConfigError>(r.svg.empty() || (n == 0 && !r.csv), kWhere,
                       "--svg: expected it alone; it draws tables by distance");
  require<ConfigError>(!r.markdown || (r.list && !r.csv), kWhere,
                       "--markdown: expected --list with it, and not --csv");
  require<ConfigError>(!r.image || (!r.svg.empty() && r.distances.empty() && !r.log_axis), kWhere,
                       "--image: expected --svg with it, and neither --distances nor --log-axis");
  require<ConfigError>(r.distances.empty() || n == 0, kWhere,
                       "--distances: expected it for tables alone");
  require<ConfigError>(r.table == "bias" || r.table == "weight", kWhere,
                       "--table: expected bias or weight, got '", r.table, "'");
  require<ConfigError>(!r.length || (*r.length >= 1 && *r.length <= (1 << 22)), kWhere,
                       "--length: expected a number from 1 to 2^22, got ", r.length.value_or(0));
  const bool has_subject = !r.subject.expressions.empty() || !r.subject.run.run.empty();
  require<ConfigError>(!has_subject || !(r.list || r.matrix), kWhere,
                       r.list ? "--list" : "--matrix",
                       ": expected no expression and no run with it");
}

using Columns = std::vector<cli::Table::Column>;

// The cells of all subjects; each row begins with the expression, for CSV only if there are
// several.
cli::Table table_of(const std::string& name, const std::vector<Subject>& subjects, Columns columns,
                    const std::function<Cells(const Subject&)>& cells_of, bool has_expression) {
  if (has_expression) columns.insert(columns.begin(), "posenc");
  cli::Table table = {name, std::move(columns)};
  for (const Subject& s : subjects)
    for (std::vector<cli::Cell>& row : cells_of(s)) {
      if (has_expression) row.insert(row.begin(), s.name());
      table.rows.push_back(std::move(row));
    }
  return table;
}

// Columns at the end that have a heading alone.
void drop_empty_columns(cli::Table& table) {
  const auto is_empty = [](const auto& row) { return row.back().text.empty(); };
  while (!table.rows.empty() && std::all_of(table.rows.begin(), table.rows.end(), is_empty)) {
    table.columns.pop_back();
    for (auto& row : table.rows) row.pop_back();
  }
}

void show_cells(const EncodingRequest& request, std::vector<Subject>& subjects,
                cli::Printout& page) {
  cli::Table table = {"positions", {"position", "id", {"distance", "tokens"}}};
  std::function<Cells(const Subject&, Format)> cells_of = position_cells;
  if (request.rotation) {
    table = {"rotation",
             {"pair",
              {"frequency", "radians per token"},
              "scale_q",
              "scale_k",
              {"far_frequency_q", "radians per token"},
              {"far_frequency_k", "radians per token"}}};
    cells_of = [&](const Subject& s, Format format) {
      return pair_cells(s, request.position, format);
    };
  } else if (request.parameters) {
    table = {"parameters", {"name", "index", "value"}};
    cells_of = parameter_cells;
  }
  const auto exact_cells = [&](const Subject& s) { return cells_of(s, exact); };
  for (Subject& s : subjects) s.spot.n_key = request.length.value_or(s.spot.n_key);
  if (request.csv) {
    page.text() << csv_of(
        table_of(table.name, subjects, table.columns, exact_cells, subjects.size() > 1));
    return;
  }
  for (const Subject& s : subjects) {
    page.text() << (&s == &subjects[0] ? "" : "\n") << heading(s);
    if (page.is_json()) continue;
    cli::Table shown = table;
    shown.rows = cells_of(s, brief);
    drop_empty_columns(shown);
    page.add(shown);
  }
  if (page.is_json())
    page.add_for_programs(table_of(table.name, subjects, table.columns, exact_cells, true));
}

void draw_image(const EncodingRequest& request, std::vector<Subject>& subjects, std::ostream& out) {
  require<ConfigError>(subjects.size() == 1, kWhere, "--image: expected one expression, got ",
                       subjects.size());
  Subject& subject = subjects.front();
  subject.spot.n_key = request.length.value_or(subject.spot.n_key);
  write_file_atomic(request.svg, plot::draw_svg(bias_picture(subject, *request.image)));
  out << "drawn: " << request.svg << '\n';
}

// As asked for, or what suits the output and the length.
std::vector<int64_t> distances_of(const EncodingRequest& request, int64_t train_len) {
  if (!request.distances.empty()) return cli::parse_distances(request.distances);
  std::vector<int64_t> distances = cli::usual_distances(train_len);
  if (!request.svg.empty())
    distances =
        cli::drawn_distances(std::min(distances.back(), request.length.value_or(1 << 22) - 1));
  if (request.length)
    distances.erase(std::lower_bound(distances.begin(), distances.end(), *request.length),
                    distances.end());
  return distances;
}

void show_tables(const EncodingRequest& request, std::vector<Subject>& subjects,
                 cli::Printout& page) {
  const std::vector<int64_t> distances = distances_of(request, subjects[0].config().train_len);
  const int64_t needed = *std::max_element(distances.begin(), distances.end()) + 1;
  require<ConfigError>(request.length.value_or(needed) >= needed, kWhere,
                       "--length: expected at least ", needed, " tokens for the distance ",
                       needed - 1, ", got ", request.length.value_or(0));
  for (Subject& s : subjects) s.spot.n_key = request.length.value_or(needed);
  if (!request.svg.empty()) {
    const plot::Plot plot =
        tables_plot(subjects, distances, request.table == "bias", request.log_axis);
    write_file_atomic(request.svg, plot::draw_svg(plot));
    page.text() << "drawn: " << request.svg << '\n';
    return;
  }
  const Columns columns = {"head", {"distance", "tokens"}, "bias", "weight"};
  const auto cells_of = [&](const Subject& s) { return table_cells(s, distances, exact); };
  if (request.csv) {
    page.text() << csv_of(table_of("scores", subjects, columns, cells_of, subjects.size() > 1));
    return;
  }
  for (const Subject& s : subjects)
    page.text() << (&s == &subjects[0] ? "" : "\n")
                << (page.is_json() ? heading(s) : tables_text(s, distances));
  if (page.is_json()) page.add_for_programs(table_of("scores", subjects, columns, cells_of, true));
}

}  // namespace

int inspect_encoding(int argc, const char* const* argv, std::ostream& out) {
  EncodingRequest request;
  SubjectOptions& subject = request.subject;
  cli::Options options(
      "inspect encoding",
      "Prints the bias and weight of encodings by distance, for the last query of a sequence, in "
      "float64.\nA score is weight * (scaled dot product of q and k) + bias.");
  options.add_positional("EXPR", subject.expressions,
                         "encodings, each as --posenc of `train` takes it");
  options.group("What")
      .add("distances", request.distances, "D,A:B,...",
           "print the tables at these distances; ranges A:B and A:B:STEP include both ends "
           "(default: powers of 2)")
      .add("positions", request.positions, "print the positions after remaps, instead of tables")
      .add("rotation", request.rotation,
           "print rotary frequencies (radians per token) and scales, instead of tables")
      .add("parameters", request.parameters, "print the learned values, instead of tables")
      .add("list", request.list,
           "list every encoding, its arguments and the encodings it can be combined with")
      .add("matrix", request.matrix,
           "try every encoding on every path: training, gradients, resuming, 8 times the length, "
           "...");
  options.group("Where")
      .add("layer", subject.layer, "N", "layer; negative ones count from the end")
      .add("length", request.length, "N",
           "tokens of the sequence (default: enough for --distances, else the training length)")
      .add("position", request.position, "N",
           "with --rotation: the rotation from this position to the next")
      .add("phase", subject.phase, "eval|train",
           "training or evaluation, for encodings that differ between the two")
      .add("draw", subject.draw, "N", "for random positions: number of the draw");
  options.group("How").add("csv", request.csv, "print CSV with 17 digits");
  add_json_option(options, request.json);
  options.add("markdown", request.markdown, "with --list: print the table of posenc/README.md")
      .add("svg", request.svg, "FILE", "draw the tables as SVG, a line for each head")
      .add("table", request.table, "bias|weight", "with --svg: which table")
      .add("log-axis", request.log_axis, "with --svg: logarithmic axis for distances")
      .add("image", request.image, "HEAD",
           "with --svg: draw the bias of this head as a picture over query and key");
  subject.model.add_to(options);
  subject.run.add_to(options);
  if (!options.parse(argc, argv, out)) return cli::kDone;
  check(request);
  require<ConfigError>(!request.svg.empty() || !options.given("svg"), kWhere,
                       "--svg: expected a file, got ''");
  cli::Printout page(out, "inspect encoding", request.json);
  if (request.list) {
    if (page.is_json())
      page.add_for_programs(registry_table());
    else
      out << (request.csv        ? registry_csv()
              : request.markdown ? posenc::markdown()
                                 : registry_text());
    page.finish();
    return cli::kDone;
  }
  if (request.matrix) {
    const std::vector<MatrixRow> rows = encoding_matrix();
    if (page.is_json())
      page.add_for_programs(matrix_table(rows));
    else
      out << (request.csv ? matrix_csv(rows) : matrix_text(rows));
    page.finish();
    const auto has_broken = [](const MatrixRow& row) {
      return std::any_of(row.trials.begin(), row.trials.end(), is_broken);
    };
    return std::any_of(rows.begin(), rows.end(), has_broken) ? cli::kFailed : cli::kDone;
  }
  if (!request.svg.empty()) require_writable_file(request.svg);
  std::vector<std::string> refused;
  std::vector<Subject> subjects = subjects_of(subject, options, refused);
  if (request.positions || request.rotation || request.parameters)
    show_cells(request, subjects, page);
  else if (request.image)
    draw_image(request, subjects, out);
  else
    show_tables(request, subjects, page);
  page.finish();
  require<ConfigError>(refused.empty(), kWhere, refused.size(), " of ", subject.expressions.size(),
                       " expressions left out: ", refused.empty() ? "" : refused.front());
  return cli::kDone;
}

}  // namespace farfield::inspect
