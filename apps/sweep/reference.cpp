#include "apps/sweep/reference.h"

#include <utility>

#include "apps/cli/csv.h"
#include "engine/base/error.h"

namespace farfield::sweep {

// Name and text of each file in reference/; made by CMake.
const std::vector<std::pair<std::string, std::string>>& reference_files();

namespace {

using Row = std::vector<std::string>;

// The rows of a file under its header, each as long as that.
std::vector<Row> rows_of(const std::string& name, size_t n_columns) {
  for (const auto& [file, text] : reference_files()) {
    if (file != name) continue;
    std::vector<Row> rows = cli::parse_csv(name, text);
    rows.erase(rows.begin());
    for (const Row& row : rows)
      require<Error>(row.size() == n_columns, "sweep", name, ": expected ", n_columns,
                     " columns, got ", row.size());
    return rows;
  }
  fail<Error>("sweep", "expected the file ", name, " in this program, got none");
}

const std::vector<Row>& scalars() {
  static const std::vector<Row> all = rows_of("scalars.csv", 7);
  return all;
}

const std::vector<Row>& settings() {
  static const std::vector<Row> all = rows_of("configs.csv", 7);
  return all;
}

}  // namespace

const std::vector<PrintedNumber>& printed_numbers() {
  static const std::vector<PrintedNumber> all = [] {
    std::vector<PrintedNumber> numbers;
    for (const auto& [file, text] : reference_files()) {
      if (file.find("_table") == std::string::npos) continue;
      for (const Row& r : rows_of(file, 15))
        numbers.push_back({r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11],
                           r[12], r[13], r[14]});
    }
    return numbers;
  }();
  return all;
}

std::vector<PrintedNumber> printed_numbers_of(const std::string& experiment) {
  std::vector<PrintedNumber> found;
  for (const PrintedNumber& number : printed_numbers())
    if (number.experiment == experiment) found.push_back(number);
  return found;
}

std::vector<PrintedScalar> printed_scalars_of(const std::string& experiment) {
  std::vector<PrintedScalar> found;
  for (const Row& row : scalars())
    if (row[2] == experiment) found.push_back({row[1], row[3], row[4], row[5], row[6]});
  return found;
}

std::string printed_scalar(const std::string& experiment, const std::string& quantity) {
  for (const Row& row : scalars())
    if (row[2] == experiment && row[3] == quantity) return row[4];
  return "";
}

std::string printed_setting(const std::string& source, const std::string& table,
                            const std::string& model, const std::string& key) {
  for (const Row& row : settings())
    if (row[0] == source && row[1] == table && row[2] == model && row[3] == key) return row[4];
  return "";
}

const std::vector<Claim>& claims() {
  static const std::vector<Claim> all = [] {
    std::vector<Claim> found;
    for (const Row& r : rows_of("claims.csv", 6))
      found.push_back({r[0], r[1], r[2], r[3], r[4], r[5]});
    return found;
  }();
  return all;
}

const Claim* find_claim(const std::string& id) {
  for (const Claim& claim : claims())
    if (claim.id == id) return &claim;
  return nullptr;
}

}  // namespace farfield::sweep
