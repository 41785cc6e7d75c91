#include "tests/static_costs/moves.h"

#include "apps/cli/csv.h"
#include "apps/cli/text_table.h"
#include "engine/base/error.h"
#include "tests/static_costs/fields.h"

namespace farfield::static_costs {
namespace {

int64_t n_moves(const HostFunction& function) {
  return function.count(HostKind::to_stack) + function.count(HostKind::from_stack);
}

// Why the sums of a register block are not in registers, or "".
std::string flaw_of(const HostFunction& block) {
  const int64_t n_move = n_moves(block), n_call = block.count(HostKind::call);
  if (n_move > 0) return concat(n_move, " moves of vectors to and from the stack");
  if (n_call > 0) return concat(n_call, " calls");
  if (block.count_in_loops(HostKind::multiply) == 0) return "a loop that multiplies no vectors";
  return "";
}

}  // namespace

ObjectMoves moves_of(const std::filesystem::path& object,
                     const std::vector<HostFunction>& functions) {
  ObjectMoves result;
  result.file = object.stem().string();  // without .o
  result.name = (object.parent_path().filename() / result.file).string();
  for (const HostFunction& function : functions) {
    result.moves.all += n_moves(function);
    result.moves.in_loops += function.count_in_loops(HostKind::to_stack);
    result.n_product += function.count_in_loops(HostKind::multiply);
    if (function.name.find("multiply_block<") == std::string::npos) continue;
    ++result.n_block;
    if (const std::string flaw = flaw_of(function); !flaw.empty())
      result.broken.push_back(concat(function.name, ": ", flaw));
  }
  return result;
}

std::map<std::string, MoveLimits> limits_of(const std::string& name, std::string_view csv) {
  const std::vector<std::string> columns = {"file", "moves", "in_loops", "least_products"};
  std::map<std::string, MoveLimits> result;
  const auto rows = cli::parse_csv(name, csv);
  require<IoError>(!rows.empty() && rows[0] == columns, "static_costs", name,
                   ": expected in line 1 the names of columns");
  for (size_t i = 1; i < rows.size(); ++i) {
    const Fields fields(name, i + 1, rows[i], columns.size());
    result[rows[i][0]] = {{fields.number(rows[i][1]), fields.number(rows[i][2])},
                          fields.number(rows[i][3])};
  }
  return result;
}

std::string table(const std::vector<ObjectMoves>& objects,
                  const std::map<std::string, MoveLimits>& limits) {
  std::vector<std::vector<std::string>> rows = {
      {"object", "moves", "limit", "in loops", "limit", "products", "at least", "register blocks"}};
  for (const ObjectMoves& object : objects) {
    const auto limit = limits.find(object.file);
    const bool is_known = limit != limits.end();
    rows.push_back({object.name, std::to_string(object.moves.all),
                    is_known ? std::to_string(limit->second.most.all) : "-",
                    std::to_string(object.moves.in_loops),
                    is_known ? std::to_string(limit->second.most.in_loops) : "-",
                    std::to_string(object.n_product),
                    is_known ? std::to_string(limit->second.least_products) : "-",
                    std::to_string(object.n_block)});
  }
  return cli::text_table(rows, 2);
}

std::vector<std::string> failures(const std::vector<ObjectMoves>& objects,
                                  const std::map<std::string, MoveLimits>& limits) {
  std::vector<std::string> lines;
  for (const ObjectMoves& object : objects) {
    if (const auto limit = limits.find(object.file); limit != limits.end()) {
      const auto& [all, in_loops] = limit->second.most;
      if (object.moves.all > all)
        lines.push_back(
            concat(object.name, ": expected at most ", all, " moves, got ", object.moves.all));
      if (object.moves.in_loops > in_loops)
        lines.push_back(concat(object.name, ": expected at most ", in_loops,
                               " moves to the stack in innermost loops, got ",
                               object.moves.in_loops));
      if (const int64_t least = limit->second.least_products; object.n_product < least)
        lines.push_back(concat(object.name, ": expected at least ", least,
                               " products of vectors in innermost loops, got ", object.n_product));
    }
    for (const std::string& block : object.broken)
      lines.push_back(concat(object.name, ": expected sums in registers, got ", block));
  }
  return lines;
}

}  // namespace farfield::static_costs
