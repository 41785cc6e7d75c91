#include "apps/inspect/matrix.h"

#include <algorithm>

#include "apps/cli/csv.h"
#include "engine/base/error.h"

namespace farfield::inspect {
namespace {

const char* word_for(Trial::Outcome outcome) {
  switch (outcome) {
    case Trial::Outcome::works:
      return "works";
    case Trial::Outcome::refused:
      return "refused";
    case Trial::Outcome::nothing:
      return "nothing";
    case Trial::Outcome::broken:
      break;
  }
  return "broken";
}

// A message without the lines that show the place in an expression.
std::string first_line(const std::string& message) {
  std::string line = message.substr(0, message.find('\n'));
  const size_t column = line.rfind(" at column ");
  return column == std::string::npos ? line : line.substr(0, column);
}

// Columns padded to one width, for a table that reads well as plain text too.
std::string markdown(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows[0].size(), 3);
  for (const auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  const auto line = [&](const std::vector<std::string>& row) {
    for (size_t c = 0; c < row.size(); ++c)
      text += (c == 0 ? "| " : " | ") + row[c] + std::string(widths[c] - row[c].size(), ' ');
    text += " |\n";
  };
  line(rows[0]);
  for (const size_t width : widths) text += '|' + std::string(width + 2, '-');
  text += "|\n";
  std::for_each(rows.begin() + 1, rows.end(), line);
  return text;
}

}  // namespace

std::vector<MatrixRow> encoding_matrix() {
  const Trials trials;
  std::vector<MatrixRow> rows;
  for (const posenc::Row& row : posenc::registry())
    rows.push_back({row.name, Trials::expression_of(row), trials.run(row)});
  return rows;
}

bool is_broken(const Trial& trial) {
  return trial.outcome == Trial::Outcome::broken ||
         (trial.outcome != Trial::Outcome::works && trial.message.empty());
}

std::string matrix_text(const std::vector<MatrixRow>& rows) {
  std::vector<std::vector<std::string>> cells(1, {"encoding"});
  for (const std::string& path : Trials::paths()) cells[0].push_back(path);
  std::vector<std::string> notes;
  for (const MatrixRow& row : rows) {
    cells.push_back({'`' + row.name + '`'});
    for (const Trial& trial : row.trials) {
      if (trial.outcome == Trial::Outcome::works || trial.outcome == Trial::Outcome::nothing) {
        cells.back().push_back(trial.outcome == Trial::Outcome::works ? "yes" : "-");
        continue;
      }
      const std::string note = first_line(trial.message);
      auto same = std::find(notes.begin(), notes.end(), note);
      if (same == notes.end()) same = notes.insert(notes.end(), note);
      cells.back().push_back(
          concat(is_broken(trial) ? "BROKEN " : "", '(', same - notes.begin() + 1, ')'));
    }
  }
  std::string text = markdown(cells) + '\n';
  for (size_t i = 0; i < notes.size(); ++i) text += concat(i + 1, ". ", notes[i], '\n');
  return text;
}

cli::Table matrix_table(const std::vector<MatrixRow>& rows) {
  cli::Table table = {"trials", {"name", "expression", "path", "outcome", "message"}};
  for (const MatrixRow& row : rows)
    for (size_t i = 0; i < row.trials.size(); ++i)
      table.rows.push_back({row.name, row.expression, Trials::paths()[i],
                            word_for(row.trials[i].outcome), row.trials[i].message});
  return table;
}

std::string matrix_csv(const std::vector<MatrixRow>& rows) {
  return cli::csv_of(matrix_table(rows));
}

}  // namespace farfield::inspect
