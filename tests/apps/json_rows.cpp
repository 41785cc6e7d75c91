// json_rows FORM DOCUMENT TEXT: DOCUMENT, which a command printed with --json, is one JSON document
// with the rows that the command printed in TEXT without it. FORM says how TEXT has them:
//
//   columns  below a line with the names of all columns, in order
//   lines    somewhere in it, in order: each row has a line with its first cell
//   csv      as CSV, every cell
//   runs     as `model list`: an array with an object for each line below the first
//   results  as `eval`: the lengths of each result are in the first line of its table
//   parts    as other documents: not empty, nothing to compare

#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/cli/csv.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

using namespace farfield;

namespace {

constexpr const char* kWhere = "json_rows";

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The tables of a document, whose rows have a value for each column and nothing else.
const Json& checked_tables(const Json& document) {
  for (const char* key : {"command", "remarks", "tables"})
    require<IoError>(document.contains(key), kWhere, "expected '", key, "'");
  for (const auto& [name, table] : document["tables"].items())
    for (const Json& row : table.at("rows")) {
      require<IoError>(row.size() == table.at("columns").size(), kWhere, name, ": expected ",
                       table["columns"].size(), " values, got ", row.dump());
      for (const Json& column : table["columns"])
        require<IoError>(row.contains(column.at("name").get<std::string>()), kWhere, name,
                         ": expected ", column["name"].dump(), " in ", row.dump());
    }
  return document["tables"];
}

const Json& first_cell(const Json& table, const Json& row) {
  return row.at(table["columns"].at(0)["name"].get<std::string>());
}

bool has_names(const std::string& line, const Json& columns) {
  size_t at = 0;
  for (const Json& column : columns) {
    const std::string name = column["name"].get<std::string>();
    const size_t found = line.find(name, at);
    if (found == line.npos || (at == 0 && found != 0)) return false;
    at = found + name.size();
  }
  return true;
}

// Texts with two blanks or more between them.
size_t n_field(const std::string& line) {
  size_t n = line.empty() ? 0 : 1;
  for (size_t i = 0; i + 2 < line.size(); ++i)
    n += line[i] == ' ' && line[i + 1] == ' ' && line[i + 2] != ' ';
  return n;
}

void below_their_names(const std::string& name, const Json& table,
                       const std::vector<std::string>& lines) {
  size_t i = 0;
  while (i < lines.size() && !has_names(lines[i], table["columns"])) ++i;
  require<IoError>(i < lines.size(), kWhere, name, ": expected a line with ",
                   table["columns"].dump());
  for (const Json& row : table["rows"]) {
    const std::string cell = text_of(first_cell(table, row));
    const std::string line = ++i < lines.size() ? lines[i] : "";
    require<IoError>(line.starts_with(cell), kWhere, name, ": expected a line that begins with '",
                     cell, "', got '", line, "'");
  }
  const std::string next = ++i < lines.size() ? lines[i] : "";
  require<IoError>(n_field(next) < table["columns"].size(), kWhere, name,
                   ": expected no further row, got '", next, "'");
}

void on_lines(const std::string& name, const Json& table, const std::vector<std::string>& lines) {
  size_t i = 0;
  for (const Json& row : table["rows"]) {
    const std::string cell = text_of(first_cell(table, row));
    while (i < lines.size() && lines[i].find(cell) == std::string::npos) ++i;
    require<IoError>(i < lines.size(), kWhere, name, ": expected a line with '", cell, "'");
  }
}

void as_csv(const std::string& name, const Json& table, const std::string& text) {
  const std::vector<std::vector<std::string>> rows = cli::parse_csv("text", text);
  require<IoError>(rows.size() == table["rows"].size() + 1, kWhere, name, ": expected ",
                   rows.size() - 1, " rows, got ", table["rows"].size());
  for (size_t r = 1; r < rows.size(); ++r)
    for (size_t c = 0; c < rows[0].size(); ++c) {
      const Json& value = table["rows"][r - 1].at(rows[0][c]);
      const bool fits = value.is_null()     ? rows[r][c].empty()
                        : value.is_number() ? std::stod(rows[r][c]) == value.get<double>()
                                            : rows[r][c] == value.get<std::string>();
      require<IoError>(fits, kWhere, name, ": expected ", rows[r][c], " for ", rows[0][c], ", got ",
                       value.dump());
    }
}

void as_runs(const Json& document, const std::vector<std::string>& lines) {
  require<IoError>(document.is_array() && document.size() + 1 == lines.size(), kWhere,
                   "expected an array of ", lines.size() - 1, ", got ", document.dump());
  for (size_t i = 0; i < document.size(); ++i)
    require<IoError>(lines[i + 1].starts_with(document[i].at("run").get<std::string>()), kWhere,
                     "expected the run of '", lines[i + 1], "', got ", document[i].dump());
}

void as_results(const Json& document, const std::string& text) {
  require<IoError>(!document.at("results").empty(), kWhere, "expected results, got none");
  for (const Json& result : document["results"]) {
    require<IoError>(text.find(result.at("protocol").get<std::string>()) != std::string::npos,
                     kWhere, "expected ", result["protocol"].dump(), " in the text");
    for (const Json& length : result.at("lengths"))
      require<IoError>(text.find(length.at("length").dump()) != std::string::npos, kWhere,
                       "expected ", length["length"].dump(), " in the text");
  }
}

void compare(const std::string& form, const std::string& file, const std::string& text) {
  const Json document = read_json({kWhere, file, read_file(file)});
  const std::vector<std::string> lines = lines_of(text);
  if (form == "runs") return as_runs(document, lines);
  if (form == "results") return as_results(document, text);
  if (form == "parts")
    return require<IoError>(!document.empty(), kWhere, "expected a document with members");
  size_t n_row = 0;
  for (const auto& [name, table] : checked_tables(document).items()) {
    n_row += table["rows"].size();
    if (form == "columns") below_their_names(name, table, lines);
    if (form == "lines") on_lines(name, table, lines);
    if (form == "csv") as_csv(name, table, text);
  }
  require<IoError>(n_row > 0, kWhere, "expected rows, got none");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    compare(argv[1], argv[2], read_file(argv[3]));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
