#include "apps/run/value_map.h"

#include <algorithm>

#include "apps/cli/lists.h"
#include "apps/cli/option.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "posenc/head_parameter.h"

namespace farfield::run {
namespace {

constexpr std::string_view kWhere = "posenc";

using Names = std::vector<std::string>;

// "kernel.layer3.r1" is r1 of layer 3; without a layer, `layer` is empty.
struct Parts {
  std::string term, layer, parameter;
  explicit Parts(const std::string& name)
      : term(name.substr(0, name.find('.'))), parameter(name.substr(name.rfind('.') + 1)) {
    if (name.size() > term.size() + parameter.size() + 1)
      layer = name.substr(term.size() + 1, name.size() - term.size() - parameter.size() - 2);
  }
  std::string without_layer() const { return term + '.' + parameter; }
};

posenc::HeadParameter& parameter_of(posenc::Composition& encoding, const std::string& name) {
  for (posenc::HeadParameter* parameter : encoding.head_parameters())
    if (parameter->name() == name) return *parameter;
  fail<ConfigError>(kWhere, "'", encoding.canonical(), "' has no ", name);
}

Names names_of(posenc::Composition& encoding) {
  Names names;
  for (const posenc::HeadParameter* parameter : encoding.head_parameters())
    names.push_back(parameter->name());
  return names;
}

// As they may be asked for: of all layers, each once.
Names short_names(const Names& names) {
  Names all;
  for (const std::string& name : names) {
    const std::string text = Parts(name).without_layer();
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
  return all;
}

Names matches(const std::string& asked, const Names& names) {
  Names found;
  for (const std::string& name : names) {
    const Parts parts(name);
    if (asked == name || asked == parts.without_layer() || asked == parts.parameter)
      found.push_back(name);
  }
  return found;
}

// One --map while it is read.
struct Reader {
  std::string where, text;  // in messages

  template <class... More>
  void check(bool ok, const More&... more) const {
    require<ConfigError>(ok, kWhere, where, ": --map ", text, ": ", more...);
  }

  // The parameters of one side; `hint` when the sides may have been exchanged.
  Names resolve(const std::string& asked, posenc::Composition& encoding, const char* what,
                const std::string& hint) const {
    const Names names = names_of(encoding), known = short_names(names);
    check(!known.empty(), "expected ", what, ", with one number per head, got '", asked, "'; '",
          encoding.canonical(), "' learns none");
    const Names found = matches(asked, names);
    check(!found.empty(), "expected ", what, " out of ", joined(known), ", got '", asked, "'",
          hint.empty() ? did_you_mean(asked, known) : hint);
    const Names terms = short_names(found);
    check(terms.size() == 1, "expected one of ", joined(terms), ", got '", asked,
          "', which may be each of them; write the term too");
    return found;
  }

  void add_pairs(const Names& from, const Names& to, std::vector<MappedValue>& maps) const {
    for (const std::string& place : to) {
      const auto same_layer = std::find_if(from.begin(), from.end(), [&](const std::string& name) {
        return Parts(name).layer == Parts(place).layer;
      });
      check(from.size() == 1 || same_layer != from.end(),
            "expected a value of its layer, or one for all layers, for ", place, ", got ",
            joined(from));
      check(std::none_of(maps.begin(), maps.end(),
                         [&](const MappedValue& other) { return other.to == place; }),
            "expected a value for ", place, " once, got it again");
      maps.push_back({same_layer != from.end() ? *same_layer : from[0], place});
    }
  }
};

}  // namespace

std::vector<MappedValue> value_maps(const std::string& where, const Names& texts,
                                    posenc::Composition& trained, posenc::Composition& changed) {
  std::vector<MappedValue> maps;
  for (const std::string& text : texts) {
    const Reader reader{where, text};
    const size_t equals = text.find('=');
    const std::string from(cli::trimmed(std::string_view(text).substr(0, equals)));
    const std::string to(
        equals == std::string::npos ? "" : cli::trimmed(std::string_view(text).substr(equals + 1)));
    reader.check(!from.empty() && !to.empty(),
                 "expected FROM=TO, a trained value and its new place, as in r1=kerple_log.r1");
    const bool is_exchanged = matches(from, names_of(trained)).empty() &&
                              !matches(to, names_of(trained)).empty() &&
                              !matches(from, names_of(changed)).empty();
    const std::string hint =
        is_exchanged ? concat("; the trained value comes first: --map ", to, '=', from) : "";
    const Names froms = reader.resolve(
        from, trained, concat("a value that '", trained.canonical(), "' learned").c_str(), hint);
    const Names tos = reader.resolve(
        to, changed, concat("a place that '", changed.canonical(), "' learns").c_str(), "");
    reader.add_pairs(froms, tos, maps);
  }
  std::sort(maps.begin(), maps.end(),
            [](const MappedValue& a, const MappedValue& b) { return a.to < b.to; });
  return maps;
}

void apply(const std::vector<MappedValue>& maps, posenc::Composition& trained,
           posenc::Composition& changed) {
  for (const auto& [from, to] : maps)
    parameter_of(changed, to).set_values(parameter_of(trained, from).values());
}

std::string to_text(const std::vector<MappedValue>& maps) {
  Names all;
  for (const auto& [from, to] : maps) all.push_back(concat(from, '=', to));
  return joined(all);
}

}  // namespace farfield::run
