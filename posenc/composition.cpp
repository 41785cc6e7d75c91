#include "posenc/composition.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "engine/autograd.h"
#include "engine/base/hash.h"
#include "engine/base/parallel.h"
#include "engine/base/text.h"
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
  const std::string hint = did_you_mean(term.name, known, name_synonyms());
  fail<ConfigError>("posenc", "expected an encoding, got '", term.name, "'",
                    hint.empty() ? "; there are " + joined(known) : hint,
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

constexpr std::string_view kStoredAs = "gpt_neox.position_bias.";

struct Exclusive {
  const char* what;
  std::vector<const char*> classes;
};
// At most one of each on a layer.
const std::vector<Exclusive>& exclusives() {
  static const std::vector<Exclusive> list = {{"rotation", {"R", "P2"}},
                                              {"input embedding", {"I"}},
                                              {"remap of positions or distances", {"P", "P2"}},
                                              {"row-dependent bias", {"B"}},
                                              {"normaliser", {"N"}}};
  return list;
}
bool is_any(const Row& row, const std::vector<const char*>& classes) {
  return std::any_of(classes.begin(), classes.end(), [&](const char* c) { return row.is(c); });
}

int64_t size_bytes(const Tensor& x) { return x.defined() ? x.size_bytes() : 0; }
int64_t size_bytes(const Composition::Layer& layer) {
  const auto& [rotation, rule] = layer;
  int64_t sum = size_bytes(rule.ids) + size_bytes(rule.far_ids_q) + size_bytes(rule.far_ids_k);
  const auto add = [&](const Tensor& table) { sum += size_bytes(table); };
  for_each_angle(rotation, add);
  for_each_table(rule, add);
  return sum;
}

}  // namespace

void Composition::add_terms(std::string_view expression) {
  for (const ParsedTerm& parsed : parse_expression(expression, form_of)) {
    const Row& row = find_row(expression, parsed);
    Term term{&row, 0, config_.n_layer - 1, parsed.column,
              Arguments(expression, parsed, row.name, row.arguments, config_)};
    if (row.expand != nullptr) {
      require<ConfigError>(!parsed.layers, "posenc", row.name,
                           " says itself which layers it is for, expected it without @",
                           show_place(expression, parsed.column));
      const std::string meant = row.expand(term.arguments, config_);
      try {
        add_terms(meant);
      } catch (const ConfigError& error) {  // shown where the user wrote it
        const std::string what = error.what();
        fail<ConfigError>("posenc", row.name, " stands for '", meant,
                          "': ", what.substr(0, what.find(" at column ")),
                          show_place(expression, parsed.column));
      }
      continue;
    }
    if (parsed.layers) {
      require<ConfigError>(!row.is("I"), "posenc", row.name,
                           " is added to the input and cannot be limited to layers",
                           show_place(expression, parsed.layers->column));
      term.first = find_layer(expression, *parsed.layers, parsed.layers->first, config_.n_layer);
      term.last = find_layer(expression, *parsed.layers, parsed.layers->last, config_.n_layer);
      require<ConfigError>(term.first <= term.last, "posenc",
                           "expected the first layer before the last, got ", term.first, "..",
                           term.last, show_place(expression, parsed.layers->column));
    }
    term.text = concat(row.name, term.arguments.canonical(),
                       layers_text(term.first, term.last, config_.n_layer));
    for (const Term& other : terms_) {
      if (term.last < other.first || other.last < term.first) continue;
      for (const Exclusive& exclusive : exclusives())
        require<ConfigError>(
            !is_any(row, exclusive.classes) || !is_any(*other.row, exclusive.classes), "posenc",
            "expected at most one ", exclusive.what, row.is("I") ? "" : " on a layer", ", got ",
            other.text, " and ", term.text, show_place(expression, parsed.column));
      const auto check_conflict = [&](const Term& a, const Term& b) {
        if (const Row::Conflict* const conflict = a.row->conflict_with(*b.row))
          fail<ConfigError>("posenc", "expected no ", b.text, " beside ", a.text, ": ",
                            conflict->reason, show_place(expression, parsed.column));
      };
      check_conflict(term, other);
      check_conflict(other, term);
    }
    terms_.push_back(std::move(term));
  }
}

Composition::Composition(std::string_view expression, const Config& config) : config_(config) {
  check(config);
  add_terms(expression);
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
    const bool per_layer =
        (term.row->takes("share") && term.arguments.word("share") == "layer") ||
        (term.row->takes("per_layer") && term.arguments.word("per_layer") == "true");
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
      if (term.row->is("P") || term.row->is("P2")) group.remaps.push_back(&encoding);
      const Part part{&encoding,
                      term.row->takes("bias_scale") ? term.arguments.number("bias_scale") : 1};
      (encoding.parameters().empty() ? group.fixed : group.learned).push_back(part);
    }
    const auto same = std::find(groups_.begin(), groups_.end(), group);
    group_of_layer_.push_back(static_cast<size_t>(same - groups_.begin()));
    if (same == groups_.end()) groups_.push_back(std::move(group));
  }
}

bool Composition::is_random(Phase phase) const {
  for (const Term& term : terms_)
    if (term.encodings[0]->is_random(phase)) return true;
  return false;
}

Composition::Plan Composition::plan(int64_t n_query, int64_t n_key, Phase phase,
                                    const Draw& draw) const {
  // Pieces of a batch ask at the same time. Alone, it has no lock while it waits for other threads.
  static std::mutex kept_tables;
  const std::unique_lock<std::mutex> lock =
      is_inside_parallel() ? std::unique_lock(kept_tables) : std::unique_lock<std::mutex>();
  const Positions plain = Positions::plain(n_query, n_key, phase, config_.device, draw);
  Plan plan;
  const Embedding embedding = embed(plain);
  plan.embedding = embedding.table;
  plan.token_scale = embedding.token_scale;
  std::vector<Layer> of_group;
  for (size_t group = 0; group < groups_.size(); ++group) of_group.push_back(layer(group, plain));
  for (const size_t group : group_of_layer_) plan.layers.push_back(of_group[group]);
  return plan;
}

Positions Composition::positions(int64_t layer, int64_t n_query, int64_t n_key, Phase phase,
                                 const Draw& draw) const {
  Positions p = Positions::plain(n_query, n_key, phase, config_.device, draw);
  for (const Encoding* remap : groups_[group_of_layer_.at(static_cast<size_t>(layer))].remaps)
    p = remap->positions(p);
  return p;
}

Tensor Composition::rounded(const Tensor& table) const {
  return table.defined() ? cast(table, config_.dtype) : table;
}

Embedding Composition::embed(const Positions& plain) const {
  const auto term =
      std::find_if(terms_.begin(), terms_.end(), [](const Term& t) { return t.row->is("I"); });
  if (term == terms_.end()) return {};
  const Encoding& encoding = term->at(0);
  bool is_kept = encoding.parameters().empty();
  std::vector<const Encoding*> remaps;  // the input is remapped by what remaps every layer
  for (const Term& t : terms_)
    if (t.row->is("P") && t.first == 0 && t.last == config_.n_layer - 1) {
      remaps.push_back(&t.at(0));
      is_kept = is_kept && !t.at(0).is_random(plain.phase);
    }
  const auto make = [&] {
    Positions p = plain;
    for (const Encoding* remap : remaps) p = remap->positions(p);
    Embedding embedding = encoding.embed(p);
    embedding.table = rounded(embedding.table);
    return embedding;
  };
  if (!is_kept) return make();
  return embedding_cache_.get({0, plain.n_query, plain.n_key, plain.phase}, make,
                              [](const Embedding& e) { return e.table.size_bytes(); });
}

void Composition::add(const Part& part, const Positions& p, Layer& layer) const {
  Rotation rotation = part.encoding->rotate(p);
  if (rotation.cos.defined()) {
    for_each_angle(rotation, [this](Tensor& table) { table = rounded(table); });
    layer.rotation = rotation;
  }
  ScoreRule rule = part.encoding->score(p);
  if (rule.bias.defined() && part.bias_scale != 1) rule.bias = rule.bias * part.bias_scale;
  layer.rule = merge(layer.rule, rule);
}

void Composition::finish(const Group& group, const Positions& p, Layer& layer) const {
  ScoreRule& rule = layer.rule;
  for (const auto* parts : {&group.fixed, &group.learned})
    for (const Part& part : *parts)
      if (const Tensor scale = part.encoding->row_scale(p, rule); scale.defined())
        rule.row_scale = rule.row_scale.defined() ? rule.row_scale * scale : scale;
  for_each_table(rule, [this](Tensor& table) { table = rounded(table); });
  require<ConfigError>(
      rule.switch_distance == 0 || rule.window == 0 || rule.window >= rule.switch_distance,
      "posenc", "expected a window of at least the ", rule.switch_distance,
      " near tokens of the term with two branches, got ", rule.window, " in '", canonical_, '\'');
  if (!rule.bias.defined() && !rule.weight.defined() && !rule.row_bias.feature.defined()) return;
  const auto remap = [&] {  // the term that is in the way
    for (const Term& term : terms_)
      for (const auto& encoding : term.encodings)
        if (term.row->is("P") && std::find(group.remaps.begin(), group.remaps.end(),
                                           encoding.get()) != group.remaps.end())
          return term.text;
    return std::string();
  };
  require<ConfigError>(
      p.entry != Positions::Entry::none, "posenc", "expected no bias or weight by distance beside ",
      p.entry == Positions::Entry::none ? remap() : "",
      ", whose positions have no whole, growing distances to look them up at; got '", canonical_,
      '\'');
  if (p.entry == Positions::Entry::ids) {
    require<ConfigError>(!rule.row_bias.feature.defined(), "posenc",
                         "expected no row-dependent bias beside ", remap(), "; got '", canonical_,
                         '\'');
    const std::vector<int32_t> ids(p.ids.begin(), p.ids.end());
    rule.ids =
        Tensor::from(ids, p.n_row() == 1 ? Shape{p.n_key} : Shape{p.n_row(), p.n_key}, p.device);
  }
}

Composition::Layer Composition::layer(size_t group, const Positions& plain) const {
  const Group& parts = groups_[group];
  Positions p = plain;
  bool is_kept = true;
  for (const Encoding* remap : parts.remaps) {
    p = remap->positions(p);
    is_kept = is_kept && !remap->is_random(plain.phase);
  }
  const auto make = [&] {
    Layer made;
    for (const Part& part : parts.fixed) add(part, p, made);
    if (parts.learned.empty()) finish(parts, p, made);
    return made;
  };
  Layer layer = is_kept ? layer_cache_.get({group, plain.n_query, plain.n_key, plain.phase}, make,
                                           [](const Layer& l) { return size_bytes(l); })
                        : make();
  if (parts.learned.empty()) return layer;
  for (const Part& part : parts.learned) add(part, p, layer);
  finish(parts, p, layer);
  return layer;
}

std::string slug_of(std::string_view canonical) {
  constexpr size_t kMaxText = 40;
  std::string text;
  for (const char c : canonical) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (plain)
      text += c;
    else if (!text.empty() && text.back() != '-')
      text += '-';
    if (text.size() == kMaxText) break;
  }
  while (text.back() == '-' || text.back() == '.') text.pop_back();
  return concat(text, '-', hash_hex(canonical).substr(0, 8));
}

std::string checkpoint_name(std::string_view parameter) {
  const size_t dot = parameter.find('.');
  const Row* const row = find(parameter.substr(0, dot));
  if (row == nullptr || row->stored_as.empty()) return concat(kStoredAs, parameter);
  return concat(row->stored_as, parameter.substr(dot));
}

std::optional<std::string> parameter_of(std::string_view checkpoint_name) {
  const auto rest_after = [&](std::string_view prefix) {  // "" unless it begins so
    const bool begins = checkpoint_name.substr(0, prefix.size()) == prefix;
    return begins ? checkpoint_name.substr(prefix.size()) : std::string_view();
  };
  if (const auto rest = rest_after(kStoredAs); !rest.empty()) return std::string(rest);
  for (const Row& row : registry())
    if (const auto rest = rest_after(row.stored_as + '.'); !row.stored_as.empty() && !rest.empty())
      return concat(row.name, '.', rest);
  return {};
}

Composition Composition::with(std::string_view expression, const Config& config) const {
  Composition other(expression, config);
  std::map<std::string, Tensor> values;
  for (const Parameter& p : parameters()) values.emplace(p.name, p.value);
  other.take(values);
  return other;
}

Composition Composition::widened() const {
  Config config = config_;
  config.dtype = DType::f64;
  config.device = {};
  return with(canonical_, config);
}

void Composition::take(const std::map<std::string, Tensor>& values) {
  for (Parameter& p : parameters()) {
    const auto found = values.find(p.name);
    if (found != values.end() && found->second.shape() == p.value.shape())
      p.value.assign(found->second);
  }
}

std::vector<Parameter> Composition::parameters() const {
  std::vector<Parameter> all;
  for (const Term& term : terms_)
    for (const auto& encoding : term.encodings)
      for (Parameter& parameter : encoding->parameters()) all.push_back(std::move(parameter));
  return all;
}

void Composition::project() {
  const NoGrad no_grad;  // and on their device, without waiting for it
  for (Parameter& p : parameters()) {
    const auto [least, most] = p.bounds;
    if (std::isinf(least) && std::isinf(most)) continue;
    p.value.assign(minimum(maximum(cast(p.value, DType::f64), least), most));
  }
}

std::vector<HeadParameter*> Composition::head_parameters() {
  std::vector<HeadParameter*> all;
  for (Term& term : terms_)
    for (const auto& encoding : term.encodings)
      for (HeadParameter* parameter : encoding->head_parameters()) all.push_back(parameter);
  return all;
}

std::vector<Decay> Composition::decays(int64_t layer, size_t head) const {
  std::vector<Decay> all;
  for (const Term& term : terms_)
    if (term.covers(layer))
      if (std::optional<Decay> decay = term.at(layer).decay(head)) all.push_back(*decay);
  return all;
}

}  // namespace farfield::posenc
