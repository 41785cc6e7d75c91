#pragma once

#include <string>
#include <vector>

namespace farfield::sweep {

/// A number that a paper printed: a row of reference/*.csv (reference/README.md).
struct PrintedNumber {
  std::string source, table, experiment, dataset, encoding, variant, param;
  std::string train_len, length, metric;    ///< tokens as printed; may be empty
  std::string mean, std, bold, mark, note;  ///< as printed: its decimals are its rounding
};

/// A statement that can be checked: a row of reference/claims.csv.
struct Claim {
  std::string id, experiment, scope, statement, in_paper, evidence;
};

const std::vector<PrintedNumber>& printed_numbers();
/// The printed numbers of one experiment, in the order of the paper.
std::vector<PrintedNumber> printed_numbers_of(const std::string& experiment);
/// A number from a paper's text or figure: a row of scalars.csv.
struct PrintedScalar {
  std::string place;  ///< section of the paper
  std::string quantity, value, unit, note;
};
std::vector<PrintedScalar> printed_scalars_of(const std::string& experiment);
/// A number of a paper's text or configuration: scalars.csv, configs.csv; "" where there is none.
std::string printed_scalar(const std::string& experiment, const std::string& quantity);
std::string printed_setting(const std::string& source, const std::string& table,
                            const std::string& model, const std::string& key);

const std::vector<Claim>& claims();
/// Null for an id that claims.csv does not have.
const Claim* find_claim(const std::string& id);

}  // namespace farfield::sweep
