#include "apps/run/changed_encoding.h"

#include <algorithm>
#include <set>

#include "apps/run/parameter_bounds.h"
#include "apps/run/value_map.h"
#include "apps/run/weights.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "posenc/expression.h"
#include "posenc/head_parameter.h"
#include "posenc/registry.h"

namespace farfield::run {
namespace {

constexpr std::string_view kWhere = "posenc";

bool is_of_encoding(const std::string& name) { return posenc::parameter_of(name).has_value(); }
// "kerple_log.r1", as Composition::parameters() calls it.
std::string short_name(const std::string& name) { return posenc::parameter_of(name).value(); }

using Terms = std::map<std::string, posenc::ParsedTerm>;

// By the name that parameters begin with: "alibi", "alibi_2", ...
Terms terms_of(const std::string& canonical) {
  std::map<std::string, int> n_of_name;
  Terms terms;
  for (posenc::ParsedTerm& term : posenc::parse_expression(canonical, posenc::form_of)) {
    const int n = ++n_of_name[term.name];
    const std::string name = n == 1 ? term.name : concat(term.name, '_', n);
    terms.emplace(name, std::move(term));
  }
  return terms;
}

// Whether a term has an argument that the other has not, or not with that value.
bool says_more(const posenc::ParsedTerm& term, const posenc::ParsedTerm& other) {
  return std::any_of(term.arguments.begin(), term.arguments.end(), [&](const auto& mine) {
    return std::none_of(other.arguments.begin(), other.arguments.end(), [&](const auto& theirs) {
      return mine.name == theirs.name && mine.value.same(theirs.value);
    });
  });
}

// Parameters in both expressions that the new one lets start elsewhere, by its arguments; both
// encodings are where training starts.
std::set<std::string> started_elsewhere(const posenc::Composition& before,
                                        const posenc::Composition& encoding) {
  const Terms terms = terms_of(encoding.canonical()), old_terms = terms_of(before.canonical());
  std::map<std::string, std::vector<double>> old_start;
  for (const Parameter& p : before.parameters()) old_start[p.name] = p.value.to_vector();
  std::set<std::string> names;
  for (const Parameter& p : encoding.parameters()) {
    const auto old = old_start.find(p.name);
    const std::string term = p.name.substr(0, p.name.find('.'));
    if (old == old_start.end() || old->second == p.value.to_vector()) continue;
    if (says_more(terms.at(term), old_terms.at(term))) names.insert(p.name);
  }
  return names;
}

// The encoding's values of a checkpoint, by the names of Composition::parameters().
std::map<std::string, Tensor> values_of_encoding(const std::map<std::string, Tensor>& tensors) {
  std::map<std::string, Tensor> values;
  for (const auto& [name, tensor] : tensors)
    if (is_of_encoding(name)) values.emplace(short_name(name), tensor);
  return values;
}

// Which trained values are mapped, and the places that take them, by the names of checkpoints.
struct Mapped {
  std::vector<MappedValue> maps;
  std::set<std::string> from, to;

  Mapped(std::vector<MappedValue> all, posenc::Composition& trained, posenc::Composition& changed)
      : maps(std::move(all)) {
    for (const MappedValue& map : maps) {
      from.insert(stored_name(trained, map.from));
      to.insert(stored_name(changed, map.to));
    }
  }
  static std::string stored_name(posenc::Composition& encoding, const std::string& name) {
    for (const posenc::HeadParameter* p : encoding.head_parameters())
      if (p->name() == name) return posenc::checkpoint_name(p->parameter().name);
    return "";
  }
};

}  // namespace

Unmatched load_weights_of(const std::string& where, const std::string& trained, Transformer& model,
                          const std::map<std::string, Tensor>& tensors, bool drop_learned,
                          const std::vector<std::string>& maps) {
  std::vector<Parameter> parameters = model.parameters();
  const std::string& expression = model.encoding().canonical();
  if (expression == trained) {
    load_weights(parameters, tensors);
    return {};
  }
  posenc::Composition source(trained, model.encoding().config());
  const std::set<std::string> elsewhere = started_elsewhere(source, model.encoding());
  source.take(values_of_encoding(tensors));
  if (!maps.empty()) check_parameter_bounds(source, where);
  const Mapped mapped(value_maps(where, maps, source, model.encoding()), source, model.encoding());
  Unmatched unmatched;
  std::vector<std::string> overridden;
  std::map<std::string, Tensor> kept;
  for (const auto& [name, tensor] : tensors) {
    if (is_of_encoding(name)) {
      const auto place = std::find_if(parameters.begin(), parameters.end(),
                                      [&, &n = name](const Parameter& p) { return p.name == n; });
      const bool is_taken = place == parameters.end() || mapped.to.count(name) > 0;
      if (is_taken && mapped.from.count(name) > 0) continue;
      if (is_taken) {
        unmatched.left_out.push_back(short_name(name));
        continue;
      }
      if (place->value.shape() != tensor.shape()) {
        unmatched.left_out.push_back(concat(short_name(name), ' ', tensor.shape()));
        continue;
      }
      if (elsewhere.count(short_name(name)) > 0) {
        overridden.push_back(short_name(name));
        if (drop_learned) continue;
      }
    }
    kept.emplace(name, tensor);
  }
  // Of the expression, whatever this model freezes.
  const posenc::Composition fresh(expression, model.encoding().config());
  std::set<std::string> learned;
  for (const Parameter& p : fresh.parameters())
    if (p.value.requires_grad()) learned.insert(posenc::checkpoint_name(p.name));
  for (const Parameter& p : parameters)
    if (learned.count(p.name) > 0 && kept.count(p.name) == 0 && mapped.to.count(p.name) == 0)
      unmatched.at_start.push_back(short_name(p.name));

  if (!drop_learned) {
    require<ConfigError>(unmatched.left_out.empty(), kWhere, where, ": expected a place in '",
                         expression, "' for all that was trained with '", trained,
                         "', got none for ", joined(unmatched.left_out),
                         "; --map gives it another place, --drop-learned leaves out what has "
                         "none");
    require<ConfigError>(unmatched.at_start.empty(), kWhere, where,
                         ": expected trained values for all that '", expression,
                         "' learns, got none for ", joined(unmatched.at_start),
                         "; give values and learn=false, or use --drop-learned to take the initial "
                         "values of training");
    require<ConfigError>(overridden.empty(), kWhere, where, ": '", expression, "' lets ",
                         joined(overridden), " start elsewhere than '", trained,
                         "', but trained values take that place; leave the arguments as they were, "
                         "or --drop-learned takes the new ones instead");
  }
  unmatched.left_out.insert(unmatched.left_out.end(), overridden.begin(), overridden.end());
  std::vector<Parameter> matched;
  for (const Parameter& p : parameters)
    if (!is_of_encoding(p.name) || kept.count(p.name) > 0) matched.push_back(p);
  load_weights(matched, kept);
  apply(mapped.maps, source, model.encoding());
  unmatched.mapped = to_text(mapped.maps);
  return unmatched;
}

std::vector<std::string> remarks_on(const Unmatched& unmatched) {
  std::vector<std::string> remarks;
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) remarks.push_back(concat(what, ' ', joined(names)));
  };
  add("trained values left out:", unmatched.left_out);
  add("at the values that training starts from:", unmatched.at_start);
  return remarks;
}

std::string with_map(const std::string& expression, const Unmatched& unmatched) {
  return unmatched.mapped.empty() ? expression : concat(expression, ", map ", unmatched.mapped);
}

}  // namespace farfield::run
