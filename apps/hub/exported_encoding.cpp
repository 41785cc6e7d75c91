#include "apps/hub/exported_encoding.h"

#include <algorithm>
#include <cmath>

#include "apps/hub/encoding_config.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "posenc/registry.h"

namespace farfield::hub {
namespace {

using Kind = ExportedEncoding::Kind;
using posenc::Arguments;

const std::vector<std::string> kRotary = {"rope",      "rope_linear", "rope_dynamic_ntk",
                                          "rope_yarn", "rope_llama3", "rope_longrope"};

// Whether x has exactly one bit: then both sets of slopes are the same.
bool is_power_of_two(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

class EncodingReader {
 public:
  EncodingReader(const ModelConfig& model, const EncodingReaders& readers)
      : model_(model),
        readers_(readers),
        terms_(posenc::parse_expression(model.posenc, posenc::form_of)),
        config_(encoding_config(model)) {}

  ExportedEncoding read() {
    const auto n_layer = static_cast<size_t>(model_.n_layer);
    encoding_.rotates.assign(n_layer, false);
    encoding_.slides.assign(n_layer, false);
    encoding_.text = model_.posenc;
    for (const posenc::ParsedTerm& term : terms_) add(term);
    const bool slides = encoding_.window > 0;
    refuse_unless(!slides || encoding_.kind == Kind::rotary || encoding_.kind == Kind::none,
                  "a window beside ", encoding_.kind == Kind::alibi ? "alibi" : "learned_abs");
    // Whether the positions that rope_linear divides reach the window is not for a class to guess.
    refuse_unless(!slides || encoding_.rotary != "rope_linear", "a window beside rope_linear");
    return std::move(encoding_);
  }

 private:
  void add(const posenc::ParsedTerm& term) {
    const posenc::Row* const row = posenc::find(term.name);
    const std::string name = row != nullptr ? row->name : term.name;
    if (name == "none") return;
    const bool is_rotary = std::find(kRotary.begin(), kRotary.end(), name) != kRotary.end();
    refuse_unless(row != nullptr &&
                      (is_rotary || name == "alibi" || name == "learned_abs" || name == "window"),
                  name);
    const Arguments arguments(model_.posenc, term, name, row->arguments, config_);
    if (name == "window") {
      add_window(term, arguments);
      return;
    }
    if (is_rotary) {
      add_rotary(term, name, arguments);
      return;
    }
    refuse_unless(encoding_.kind == Kind::none, name, " beside another encoding");
    const std::vector<bool> layers = layers_of(term);
    refuse_unless(std::find(layers.begin(), layers.end(), false) == layers.end(), name,
                  " on some layers alone");
    if (name == "learned_abs") {
      encoding_.kind = Kind::learned;
      encoding_.n_position = arguments.integer("max_positions");
      return;
    }
    encoding_.kind = Kind::alibi;
    const std::string slopes = arguments.word("slopes");
    refuse_unless(slopes == "interp" || (slopes == "geometric" && is_power_of_two(model_.n_head)),
                  "alibi with slopes of its own");
    refuse_unless(arguments.number("slope_floor") == 0, "alibi with a slope_floor");
    refuse_unless(arguments.number("bias_scale") == 1, "alibi with a bias_scale");
  }

  void add_window(const posenc::ParsedTerm& term, const Arguments& arguments) {
    refuse_unless(arguments.word("at") == "both", "a window in evaluation alone");
    refuse_unless(arguments.integer("sinks") == 0, "a window with sinks");
    const int64_t w = arguments.integer("w");
    refuse_unless(encoding_.window == 0 || encoding_.window == w, "windows of several sizes");
    encoding_.window = w;
    join(encoding_.slides, layers_of(term));
  }

  void add_rotary(const posenc::ParsedTerm& term, const std::string& name,
                  const Arguments& arguments) {
    std::map<std::string, double> numbers;
    std::map<std::string, std::vector<double>> lists;
    for (const posenc::ArgumentSpec& spec : arguments.specs()) {
      if (spec.kind == posenc::ArgumentSpec::Kind::numbers) {
        const double share = arguments.number("rotary_pct");
        lists[spec.name] =
            arguments.numbers(spec.name, rotated(model_.head_dim(), share) / 2, "rotated pairs");
        continue;
      }
      const std::string word = arguments.word(spec.name);
      if (word.empty())
        numbers[spec.name] = arguments.number(spec.name);
      else
        refuse_unless((spec.name == "layout" && word == "half") ||
                          (spec.name == "angle_dtype" && word == "fp64") ||
                          (spec.name == "ramp" && word == "index"),
                      name, " with ", spec.name, '=', word);
    }
    const bool is_first = encoding_.kind == Kind::none;
    refuse_unless(is_first || (encoding_.kind == Kind::rotary && encoding_.rotary == name &&
                               encoding_.numbers == numbers && encoding_.lists == lists),
                  name, " beside another encoding");
    encoding_.kind = Kind::rotary;
    encoding_.rotary = name;
    encoding_.numbers = std::move(numbers);
    encoding_.lists = std::move(lists);
    join(encoding_.rotates, layers_of(term));
  }

  std::vector<bool> layers_of(const posenc::ParsedTerm& term) const {
    std::vector<bool> layers(static_cast<size_t>(model_.n_layer), !term.layers.has_value());
    if (!term.layers) return layers;
    const auto at = [&](int64_t layer) { return layer < 0 ? layer + model_.n_layer : layer; };
    for (int64_t i = at(term.layers->first); i <= at(term.layers->last); ++i)
      layers.at(static_cast<size_t>(i)) = true;
    return layers;
  }

  static void join(std::vector<bool>& all, const std::vector<bool>& more) {
    for (size_t i = 0; i < all.size(); ++i) all[i] = all[i] || more[i];
  }

  template <class... Parts>
  void refuse_unless(bool ok, const Parts&... what) const {
    require<NoClass>(ok, "hub", "no ", readers_.one, " has ", concat(what...),
                     ": expected a model with ", readers_.have, ", got '", model_.posenc, "'");
  }

  const ModelConfig& model_;
  const EncodingReaders& readers_;
  std::vector<posenc::ParsedTerm> terms_;
  posenc::Config config_;
  ExportedEncoding encoding_;
};

}  // namespace

ExportedEncoding exported_encoding(const ModelConfig& model, const EncodingReaders& readers) {
  return EncodingReader(model, readers).read();
}

int64_t rotated(int64_t head_dim, double rotary_pct) {
  return static_cast<int64_t>(std::floor(static_cast<double>(head_dim) * rotary_pct + 1e-9));
}

int64_t context_length(const ModelConfig& model, const ExportedEncoding& encoding) {
  if (encoding.kind != Kind::rotary) return model.train_len;
  const auto number = [&](const char* name) { return encoding.numbers.at(name); };
  if (encoding.rotary == "rope_dynamic_ntk") return std::lround(number("original_length"));
  if (encoding.rotary == "rope_yarn") {
    const double end = number("original_length") * number("scale");
    if (end == std::floor(end) && end < 1e9) return std::lround(end);
  }
  return model.train_len;
}

}  // namespace farfield::hub
