#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace farfield::cli {

/// A value of a table: the text for a reader, and the value for a program.
struct Cell {
  /// monostate: there is none, null in JSON.
  using Value = std::variant<std::monostate, bool, int64_t, double, std::string>;

  /// No value.
  Cell() = default;
  /// A word, which is its own text.
  Cell(std::string word) : text(word), value(std::move(word)) {}
  Cell(const char* word) : Cell(std::string(word)) {}
  /// A whole number, which is its own text.
  template <class T, class = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>
  Cell(T number) : text(std::to_string(number)), value(static_cast<int64_t>(number)) {}
  Cell(Value its_value, std::string shown) : text(std::move(shown)), value(std::move(its_value)) {}

  static Cell missing(std::string shown = "-") { return {Value(), std::move(shown)}; }

  std::string text;
  Value value;
};

/// The text alone.
std::ostream& operator<<(std::ostream& out, const Cell& cell);

/// A number that is shown with so many digits after the point.
Cell fixed_cell(double value, int n_digits);

/// Rows of equal length below names of columns.
struct Table {
  struct Column {
    Column(std::string its_name, std::string its_unit = "")
        : name(std::move(its_name)), unit(std::move(its_unit)) {}
    Column(const char* its_name) : Column(std::string(its_name)) {}
    std::string name;
    std::string unit;  ///< of its numbers: "tokens"; empty: they have none, or the name says it
  };
  std::string name;  ///< among the tables of a command
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows = {};
};

/// The table in columns that line up (text_table.h), the names first.
std::string to_text(const Table& table, size_t gap = 3);
/// The texts of the table as CSV, the names first.
std::string csv_of(const Table& table);

}  // namespace farfield::cli
