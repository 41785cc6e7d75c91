#include "apps/cli/printout.h"

#include <sstream>
#include <utility>

#include "apps/cli/json_number.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

namespace farfield::cli {
namespace {

Json json_of(const Cell::Value& value) {
  struct {
    Json operator()(std::monostate) const { return {}; }
    Json operator()(double number) const { return to_json(number); }
    Json operator()(bool is) const { return is; }
    Json operator()(int64_t number) const { return number; }
    Json operator()(const std::string& word) const { return word; }
  } const to;
  return std::visit(to, value);
}

Json json_of(const Table& table) {
  Json columns = Json::array(), rows = Json::array();
  for (const Table::Column& column : table.columns) {
    columns.push_back({{"name", column.name}});
    if (!column.unit.empty()) columns.back()["unit"] = column.unit;
  }
  for (const std::vector<Cell>& row : table.rows) {
    Json& one = rows.emplace_back(Json::object());
    for (size_t i = 0; i < row.size(); ++i) one[table.columns.at(i).name] = json_of(row[i].value);
  }
  return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

}  // namespace

struct Printout::Impl {
  std::ostream& out;
  std::string command;
  bool is_json;
  std::ostringstream remarks;
  Json facts = Json::object(), tables = Json::object();
};

Printout::Printout(std::ostream& out, std::string command, bool is_json)
    : impl_(new Impl{out, std::move(command), is_json, {}}) {}
Printout::~Printout() = default;

bool Printout::is_json() const { return impl_->is_json; }

std::ostream& Printout::text() { return impl_->is_json ? impl_->remarks : impl_->out; }

void Printout::fact(const std::string& name, const Cell& value) {
  impl_->facts[name] = json_of(value.value);
}

void Printout::add(const Table& table, size_t gap) {
  if (impl_->is_json)
    add_for_programs(table);
  else
    impl_->out << to_text(table, gap);
}

void Printout::add_for_programs(const Table& table) {
  if (impl_->is_json) impl_->tables[table.name] = json_of(table);
}

void Printout::finish() {
  if (!impl_->is_json) return;
  Json json = {{"command", impl_->command}, {"remarks", Json::array()}};
  std::istringstream lines(impl_->remarks.str());
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) json["remarks"].push_back(line);
  if (!impl_->facts.empty()) json["facts"] = std::move(impl_->facts);
  json["tables"] = std::move(impl_->tables);
  impl_->out << write_json(json, 2) << std::endl;
}

void add_json_option(Options& options, bool& is_json) {
  options.add("json", is_json,
              "print one JSON document instead: each table with its columns, units and rows, "
              "numbers with all their digits");
}

}  // namespace farfield::cli
