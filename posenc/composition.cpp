#include "posenc/composition.h"

#include <algorithm>
#include <map>

#include "engine/base/hash.h"
#include "engine/ops.h"
#include "posenc/expression.h"
#include "posenc/merge.h"
#include "posenc/registry.h"

namespace farfield::posenc {

struct Composition::Term {
  const Row* row;
  int64_t first, last;  // layers, inclusive
  size_t column;        // in the expression given
  Arguments arguments;
  std::string text = {};                                  // canonical
  std::vector<std::unique_ptr<Encoding>> encodings = {};  // one, or one per layer

  bool covers(int64_t layer) const { return first <= layer && layer <= last; }
  const Encoding& at(int64_t layer) const {
    return *encodings[encodings.size() == 1 ? 0 : static_cast<size_t>(layer - first)];
  }
};

namespace {

void check(const Config& c) {
  require<ConfigError>(
      c.n_head > 0 && c.head_dim > 0 && c.d_model > 0 && c.n_layer > 0 && c.train_len > 0, "posenc",
      "expected positive sizes, got n_head ", c.n_head, ", head_dim ", c.head_dim, ", d_model ",
      c.d_model, ", n_layer ", c.n_layer, ", train_len ", c.train_len);
  require<ConfigError>(c.dtype == DType::f32 || c.dtype == DType::f64, "posenc",
                       "expected tables in float32 or float64, got ", c.dtype);
}

const Row& find_row(std::string_view expression, const ParsedTerm& term) {
  const Row* row = find(term.name);
  if (row != nullptr) return *row;
  std::vector<std::string> known = names();
  const std::string hint = did_you_mean(term.name, known);
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  fail<ConfigError>("posenc", "expected an encoding, got '", term.name, "'",
                    hint.empty() ? "; there are " + all : hint,
                    show_place(expression, term.column));
}

int64_t find_layer(std::string_view expression, const ParsedLayers& layers, int64_t layer,
                   int64_t n_layer) {
  require<ConfigError>(layer >= -n_layer && layer < n_layer, "posenc", "expected a layer from ",
                       -n_layer, " to ", n_layer - 1, ", got ", layer,
                       show_place(expression, layers.column));
  return layer < 0 ? layer + n_layer : layer;
}

// "", "@3" or "@0..2"
std::string layers_text(int64_t first, int64_t last, int64_t n_layer) {
  if (first == 0 && last == n_layer - 1) return "";
  return first == last ? concat('@', first) : concat('@', first, "..", last);
}

struct Exclusive {
  const char* what;
  std::vector<const char*> classes;
};
// At most one of each on a layer.
const std::vector<Exclusive>& exclusives() {
  static const std::vector<Exclusive> list = {{"rotation", {"R", "P2"}},
                                              {"input embedding", {"I"}},
                                              {"position remap", {"P"}},
                                              {"normaliser", {"N"}}};
  return list;
}
bool is_any(const Row& row, const std::vector<const char*>& classes) {
  return std::any_of(classes.begin(), classes.end(), [&](const char* c) { return row.is(c); });
}

int64_t size_bytes(const Tensor& x) { return x.defined() ? x.size_bytes() : 0; }
int64_t size_bytes(const Composition::Layer& layer) {
  const auto& [rotation, rule] = layer;
  return size_bytes(rotation.cos) + size_bytes(rotation.sin) + size_bytes(rotation.scale_q) +
         size_bytes(rotation.scale_k) + size_bytes(rule.bias) + size_bytes(rule.weight) +
         size_bytes(rule.row_scale);
}

}  // namespace

Composition::Composition(std::string_view expression, const Config& config) : config_(config) {
  check(config);
  for (const ParsedTerm& parsed : parse_expression(expression)) {
    const Row& row = find_row(expression, parsed);
    Term term{&row, 0, config.n_layer - 1, parsed.column,
              Arguments(expression, parsed, row.name, row.arguments, config)};
    if (parsed.layers) {
      require<ConfigError>(!row.is("I"), "posenc", row.name,
                           " is added to the input and cannot be limited to layers",
                           show_place(expression, parsed.layers->column));
      term.first = find_layer(expression, *parsed.layers, parsed.layers->first, config.n_layer);
      term.last = find_layer(expression, *parsed.layers, parsed.layers->last, config.n_layer);
      require<ConfigError>(term.first <= term.last, "posenc",
                           "expected the first layer before the last, got ", term.first, "..",
                           term.last, show_place(expression, parsed.layers->column));
    }
    term.text = concat(row.name, term.arguments.canonical(),
                       layers_text(term.first, term.last, config.n_layer));
    for (const Term& other : terms_)
      for (const Exclusive& exclusive : exclusives())
        require<ConfigError>(
            !is_any(row, exclusive.classes) || !is_any(*other.row, exclusive.classes) ||
                term.last < other.first || other.last < term.first,
            "posenc", "expected at most one ", exclusive.what, row.is("I") ? "" : " on a layer",
            ", got ", other.text, " and ", term.text, show_place(expression, parsed.column));
    terms_.push_back(std::move(term));
  }
  // `none` adds nothing to other terms.
  const auto silent = std::stable_partition(terms_.begin(), terms_.end(),
                                            [](const Term& t) { return t.row->classes != "-"; });
  terms_.erase(std::max(silent, terms_.begin() + 1), terms_.end());
  if (terms_[0].row->classes == "-") terms_[0].text = terms_[0].row->name;
  std::stable_sort(terms_.begin(), terms_.end(),
                   [](const Term& a, const Term& b) { return a.text < b.text; });

  std::map<std::string, int> n_of_name;
  for (Term& term : terms_) {
    canonical_ += (canonical_.empty() ? "" : " + ") + term.text;
    const int n = ++n_of_name[term.row->name];
    const std::string name = n == 1 ? term.row->name : concat(term.row->name, '_', n);
    const bool per_layer = term.row->takes("share") && term.arguments.word("share") == "layer";
    for (int64_t layer = term.first; layer <= (per_layer ? term.last : term.first); ++layer) {
      term.arguments.set_path(per_layer ? concat(name, ".layer", layer) : name);
      term.encodings.push_back(term.row->make(term.arguments, config));
    }
  }
  make_groups();
}

Composition::~Composition() = default;
Composition::Composition(Composition&&) noexcept = default;
Composition& Composition::operator=(Composition&&) noexcept = default;

void Composition::make_groups() {
  for (int64_t layer = 0; layer < config_.n_layer; ++layer) {
    Group group;
    for (const Term& term : terms_) {
      if (!term.covers(layer)) continue;
      const Encoding& encoding = term.at(layer);
      if (term.row->is("P")) group.remaps.push_back(&encoding);
      const Part part{&encoding,
                      term.row->takes("bias_scale") ? term.arguments.number("bias_scale") : 1};
      (encoding.parameters().empty() ? group.fixed : group.learned).push_back(part);
    }
    const auto same = std::find(groups_.begin(), groups_.end(), group);
    group_of_layer_.push_back(static_cast<size_t>(same - groups_.begin()));
    if (same == groups_.end()) groups_.push_back(std::move(group));
  }
}

Composition::Plan Composition::plan(int64_t n_query, int64_t n_key, Phase phase) const {
  const Positions plain = Positions::plain(n_query, n_key, phase, config_.device);
  Plan plan;
  const Embedding embedding = embed(plain);
  plan.embedding = embedding.table;
  plan.token_scale = embedding.token_scale;
  std::vector<Layer> of_group;
  for (size_t group = 0; group < groups_.size(); ++group) of_group.push_back(layer(group, plain));
  for (const size_t group : group_of_layer_) plan.layers.push_back(of_group[group]);
  return plan;
}

Tensor Composition::rounded(const Tensor& table) const {
  return table.defined() ? cast(table, config_.dtype) : table;
}

Embedding Composition::embed(const Positions& plain) const {
  const auto term =
      std::find_if(terms_.begin(), terms_.end(), [](const Term& t) { return t.row->is("I"); });
  if (term == terms_.end()) return {};
  const Encoding& encoding = term->at(0);
  const auto make = [&] {
    Positions p = plain;  // the input is remapped by what remaps every layer
    for (const Term& t : terms_)
      if (t.row->is("P") && t.first == 0 && t.last == config_.n_layer - 1) p = t.at(0).positions(p);
    Embedding embedding = encoding.embed(p);
    embedding.table = rounded(embedding.table);
    return embedding;
  };
  if (!encoding.parameters().empty()) return make();
  return embedding_cache_.get({0, plain.n_query, plain.n_key, plain.phase}, make,
                              [](const Embedding& e) { return e.table.size_bytes(); });
}

void Composition::add(const Part& part, const Positions& p, Layer& layer) const {
  const Rotation rotation = part.encoding->rotate(p);
  if (rotation.cos.defined())
    layer.rotation = {rounded(rotation.cos), rounded(rotation.sin), rounded(rotation.scale_q),
                      rounded(rotation.scale_k), rotation.interleaved};
  ScoreRule rule = part.encoding->score(p);
  if (rule.bias.defined() && part.bias_scale != 1) rule.bias = rule.bias * part.bias_scale;
  layer.rule = merge(layer.rule, rule);
}

Composition::Layer Composition::layer(size_t group, const Positions& plain) const {
  const Group& parts = groups_[group];
  Positions p = plain;
  for (const Encoding* remap : parts.remaps) p = remap->positions(p);
  const auto round_rule = [this](ScoreRule& rule) {
    rule.bias = rounded(rule.bias);
    rule.weight = rounded(rule.weight);
    rule.row_scale = rounded(rule.row_scale);
  };
  Layer layer = layer_cache_.get(
      {group, plain.n_query, plain.n_key, plain.phase},
      [&] {
        Layer made;
        for (const Part& part : parts.fixed) add(part, p, made);
        if (parts.learned.empty()) round_rule(made.rule);
        return made;
      },
      [](const Layer& l) { return size_bytes(l); });
  if (parts.learned.empty()) return layer;
  for (const Part& part : parts.learned) add(part, p, layer);
  round_rule(layer.rule);
  return layer;
}

std::string Composition::slug() const {
  constexpr size_t kMaxText = 40;
  std::string text;
  for (const char c : canonical_) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (plain)
      text += c;
    else if (!text.empty() && text.back() != '-')
      text += '-';
    if (text.size() == kMaxText) break;
  }
  while (text.back() == '-' || text.back() == '.') text.pop_back();
  return concat(text, '-', hash_hex(canonical_).substr(0, 8));
}

std::vector<Parameter> Composition::parameters() const {
  std::vector<Parameter> all;
  for (const Term& term : terms_)
    for (const auto& encoding : term.encodings)
      for (Parameter& parameter : encoding->parameters()) all.push_back(std::move(parameter));
  return all;
}

void Composition::project() {
  for (Term& term : terms_)
    for (const auto& encoding : term.encodings) encoding->project();
}

}  // namespace farfield::posenc
