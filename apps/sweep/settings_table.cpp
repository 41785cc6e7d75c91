#include "apps/sweep/settings_table.h"

#include <array>
#include <cmath>
#include <cstdlib>

#include "apps/sweep/reference.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/config.h"

namespace farfield::sweep {
namespace {

struct Setting {
  const char *key, *meaning;
  double (*value)(const Preset& preset);
};

const std::array kSettings = {
    Setting{"layers", "layers",
            [](const Preset& p) { return static_cast<double>(p.model.n_layer); }},
    Setting{"hidden_size", "hidden size, which is the width of a head",
            [](const Preset& p) { return static_cast<double>(p.model.head_dim()); }},
    Setting{"heads", "heads", [](const Preset& p) { return static_cast<double>(p.model.n_head); }},
    Setting{"L_tr", "training length",
            [](const Preset& p) { return static_cast<double>(p.model.train_len); }},
    Setting{"params", "parameters",
            [](const Preset& p) { return static_cast<double>(parameter_count(p.model)); }},
    Setting{"lr", "learning rate", [](const Preset& p) { return p.train.peak_lr; }},
    Setting{"batch", "sequences of a batch",
            [](const Preset& p) { return static_cast<double>(p.train.batch_size); }},
    Setting{"steps", "steps", [](const Preset& p) { return static_cast<double>(p.train.steps); }},
};

// "162M", "1.3B", "6e-4": the number, and the unit of its last digit.
struct Printed {
  double value = 0, last_digit = 0;
};
Printed parse(const std::string& text) {
  char* end = nullptr;
  Printed printed = {std::strtod(text.c_str(), &end), 0};
  const double unit = *end == 'M' ? 1e6 : *end == 'B' ? 1e9 : 0;
  if (unit == 0) return printed;
  const size_t point = text.find('.');
  const double decimals =
      point == std::string::npos ? 0 : static_cast<double>(text.size() - point - 2);
  return {printed.value * unit, unit * std::pow(10, -decimals)};
}

bool agrees(const Printed& printed, double ours) {
  return std::abs(printed.value - ours) <= std::max(printed.last_digit / 2, 1e-9 * ours);
}

}  // namespace

ReportTable settings_table(const std::string& source, const std::string& table,
                           const std::string& model, const std::string& preset) {
  ReportTable t;
  t.caption = concat("the preset ", preset, " beside what is printed for ", model);
  t.header = {"setting", "printed", "here"};
  for (const Setting& s : kSettings)
    if (const std::string printed = printed_setting(source, table, model, s.key); !printed.empty())
      t.rows.push_back({{s.meaning}, {printed}, {shortest(s.value(find_preset(preset)))}});
  return t;
}

void settings_agree(const std::string& source, const std::string& table, const std::string& model,
                    const std::string& preset, Evidence& evidence,
                    const std::set<std::string>& but_for) {
  for (const Setting& s : kSettings) {
    const std::string printed = printed_setting(source, table, model, s.key);
    if (printed.empty() || but_for.count(s.key) != 0) continue;
    const double ours = s.value(find_preset(preset));
    evidence.holds(concat(preset, ": ", s.meaning), agrees(parse(printed), ours), ours,
                   concat("printed ", printed));
  }
}

ReportTable datasets_table(const std::string& source, const std::string& table) {
  ReportTable t;
  t.is_papers = true;
  t.caption = concat("printed: data sets, before up- or down-sampling");
  t.header = {"data set", "type", "GB"};
  for (const char* name : {"openwebtext2", "github", "arxiv"})
    t.rows.push_back({{name},
                      {printed_setting(source, table, "datasets", concat(name, "_type"))},
                      {printed_setting(source, table, "datasets", concat(name, "_raw_size"))}});
  return t;
}

}  // namespace farfield::sweep
