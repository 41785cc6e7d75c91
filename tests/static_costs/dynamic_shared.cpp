#include "tests/static_costs/dynamic_shared.h"

#include <vector>

#include "apps/cli/csv.h"
#include "engine/base/error.h"
#include "tests/static_costs/fields.h"

namespace farfield::static_costs {
namespace {

const std::vector<std::string> kColumns = {"kernel", "least", "most"};

}  // namespace

std::string to_csv(const DynamicShared& bytes) {
  std::string text = cli::csv_row(kColumns);
  for (const auto& [kernel, of_kernel] : bytes)
    text += cli::csv_row({kernel, std::to_string(of_kernel.least), std::to_string(of_kernel.most)});
  return text;
}

DynamicShared dynamic_shared_of(const std::string& name, std::string_view csv) {
  DynamicShared result;
  const auto rows = cli::parse_csv(name, csv);
  require<IoError>(!rows.empty() && rows[0] == kColumns, "static_costs", name,
                   ": expected in line 1 the names of columns");
  for (size_t i = 1; i < rows.size(); ++i) {
    const Fields fields(name, i + 1, rows[i], kColumns.size());
    result[rows[i][0]] = {fields.number(rows[i][1]), fields.number(rows[i][2])};
  }
  return result;
}

}  // namespace farfield::static_costs
