#include <algorithm>

#include "apps/cli/csv.h"
#include "apps/cli/distances.h"
#include "apps/cli/text_table.h"
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
  bool csv = false, markdown = false, log_axis = false;
  std::optional<int64_t> image;
  std::string svg, table = "bias";
};

void check(const EncodingRequest& r) {
  const int n = r.list + r.matrix + r.positions + r.rotation + r.parameters;
  require<ConfigError>(n <= 1, kWhere,
                       "expected one of --list, --matrix, --positions, --rotation and "
                       "--parameters, got ",
                       n);
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

// All subjects under one header; of several, each row begins with the expression.
std::string csv_of(const std::vector<Subject>& subjects, std::vector<std::string> header,
                   const std::function<Cells(const Subject&)>& cells_of) {
  if (subjects.size() > 1) header.insert(header.begin(), "posenc");
  std::string text = cli::csv_row(header);
  for (const Subject& s : subjects)
    for (std::vector<std::string>& row : cells_of(s)) {
      if (subjects.size() > 1) row.insert(row.begin(), s.name());
      text += cli::csv_row(row);
    }
  return text;
}

// Columns at the end that have a heading alone.
void drop_empty_columns(Cells& cells) {
  const auto is_empty = [](const auto& row) { return row.back().empty(); };
  while (cells.size() > 1 && std::all_of(cells.begin() + 1, cells.end(), is_empty))
    for (auto& row : cells) row.pop_back();
}

void show_cells(const EncodingRequest& request, std::vector<Subject>& subjects, std::ostream& out) {
  std::vector<std::string> header = {"position", "id", "distance"};
  std::function<Cells(const Subject&, Format)> cells_of = position_cells;
  if (request.rotation) {
    header = {"pair", "frequency", "scale_q", "scale_k", "far_frequency_q", "far_frequency_k"};
    cells_of = [&](const Subject& s, Format format) {
      return pair_cells(s, request.position, format);
    };
  } else if (request.parameters) {
    header = {"name", "index", "value"};
    cells_of = parameter_cells;
  }
  for (Subject& s : subjects) s.spot.n_key = request.length.value_or(s.spot.n_key);
  if (request.csv) {
    out << csv_of(subjects, header, [&](const Subject& s) { return cells_of(s, exact); });
    return;
  }
  for (const Subject& s : subjects) {
    Cells cells = cells_of(s, brief);
    cells.insert(cells.begin(), header);
    drop_empty_columns(cells);
    out << (&s == &subjects[0] ? "" : "\n") << heading(s) << cli::text_table(cells);
  }
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
                 std::ostream& out) {
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
    out << "drawn: " << request.svg << '\n';
  } else if (request.csv) {
    out << csv_of(subjects, {"head", "distance", "bias", "weight"},
                  [&](const Subject& s) { return table_cells(s, distances, exact); });
  } else {
    for (const Subject& s : subjects)
      out << (&s == &subjects[0] ? "" : "\n") << tables_text(s, distances);
  }
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
  options.group("How")
      .add("csv", request.csv, "print CSV with 17 digits")
      .add("markdown", request.markdown, "with --list: print the table of posenc/README.md")
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
  if (request.list) {
    out << (request.csv ? registry_csv() : request.markdown ? posenc::markdown() : registry_text());
    return cli::kDone;
  }
  if (request.matrix) {
    const std::vector<MatrixRow> rows = encoding_matrix();
    out << (request.csv ? matrix_csv(rows) : matrix_text(rows));
    const auto has_broken = [](const MatrixRow& row) {
      return std::any_of(row.trials.begin(), row.trials.end(), is_broken);
    };
    return std::any_of(rows.begin(), rows.end(), has_broken) ? cli::kFailed : cli::kDone;
  }
  if (!request.svg.empty()) require_writable_file(request.svg);
  std::vector<std::string> refused;
  std::vector<Subject> subjects = subjects_of(subject, options, refused);
  if (request.positions || request.rotation || request.parameters)
    show_cells(request, subjects, out);
  else if (request.image)
    draw_image(request, subjects, out);
  else
    show_tables(request, subjects, out);
  require<ConfigError>(refused.empty(), kWhere, refused.size(), " of ", subject.expressions.size(),
                       " expressions left out: ", refused.empty() ? "" : refused.front());
  return cli::kDone;
}

}  // namespace farfield::inspect
