#include "apps/run/labels.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "apps/run/resolved_config.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"

namespace farfield::run {
namespace {

constexpr size_t kLongestKernel = 40;  // bytes of a term that is shown whole
constexpr size_t kShownOfKernel = 24;  // and of one that is not

// The place behind the parenthesis that closes the one at `open`; text inside quotes is skipped.
size_t end_of_call(const std::string& text, size_t open) {
  int depth = 0;
  bool is_quoted = false;
  for (size_t i = open; i < text.size(); ++i) {
    if (is_quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && text[i] == '(') {
      ++depth;
    } else if (!is_quoted && text[i] == ')' && --depth == 0) {
      return i + 1;
    }
  }
  return text.size();
}

// `end`, or a place before it where no UTF-8 character is cut.
size_t whole_characters(const std::string& text, size_t end) {
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return end;
}

// The text of a cell as it is for every seed: where a run's seed chose the order of its documents
// ("<hash>/<split> order=7"), that and not the number is what runs have in common.
std::string text_setting(const std::string& id, uint64_t seed) {
  const size_t order = id.rfind(" order=");
  if (order == std::string::npos || id.substr(order) != concat(" order=", seed)) return id;
  return id.substr(0, order) + " order=seed";
}

// The settings of a preset as it is; empty for a name that is none.
Settings preset_settings(const std::string& name) {
  const bool is_known = std::any_of(presets().begin(), presets().end(),
                                    [&](const Preset& preset) { return preset.name == name; });
  if (!is_known) return {};
  RunConfig config;
  config.preset = name;
  return resolve(config).settings;
}

// Whether some of them differ in a key, in the order in which keys come.
std::vector<std::string> differing_keys(const std::vector<Settings>& all) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : all.front()) {
    const bool is_same =
        std::all_of(all.begin(), all.end(),
                    [&, &k = key, &v = value](const auto& s) { return value_of(s, k) == v; });
    if (!is_same) keys.push_back(key);
  }
  return keys;
}

std::string short_term(const std::string& term) {
  if (term.size() <= kLongestKernel) return term;
  return concat(term.substr(0, whole_characters(term, kShownOfKernel)), "…#",
                hash_hex(term).substr(0, 6), ')');
}

// An expression in parts: text between terms kernel(...), and those terms.
struct Part {
  std::string text;
  bool is_kernel = false;
};

std::vector<Part> parts_of(const std::string& expression) {
  static const std::string kCall = "kernel(";
  std::vector<Part> parts;
  for (size_t at = 0; at < expression.size();) {
    const size_t begin = std::min(expression.find(kCall, at), expression.size());
    parts.push_back({expression.substr(at, begin - at)});
    if (begin == expression.size()) break;
    at = end_of_call(expression, begin + kCall.size() - 1);
    parts.push_back({expression.substr(begin, at - begin), true});
  }
  return parts;
}

}  // namespace

std::string short_posenc(const std::string& expression) {
  std::string text;
  for (const Part& part : parts_of(expression))
    text += part.is_kernel ? short_term(part.text) : part.text;
  return text;
}

std::string cut_terms_text(const std::vector<std::string>& expressions,
                           const std::vector<std::string>& labels) {
  std::map<std::string, std::string> cut;
  for (const std::string& expression : expressions)
    for (const Part& part : parts_of(expression))
      if (part.is_kernel && part.text.size() > kLongestKernel)
        cut.emplace(short_term(part.text), part.text);
  std::string lines;
  for (const auto& [shown, whole] : cut)
    if (std::any_of(labels.begin(), labels.end(), [&, &term = shown](const std::string& label) {
          return label.find(term) != std::string::npos;
        }))
      lines.append(shown).append(" is ").append(whole) += '\n';
  return lines;
}

std::string encoding_name(const std::string& posenc, const std::string& trained_posenc,
                          const std::string& baseline) {
  std::string name = posenc;
  if (!baseline.empty()) name += ' ' + baseline;
  if (posenc != trained_posenc) name += " (trained: " + trained_posenc + ')';
  return name;
}

std::string encoding_label(const std::string& run_name, const std::string& posenc,
                           const std::string& trained_posenc, const std::string& baseline) {
  const std::string trained = run_name.empty() ? short_posenc(trained_posenc) : run_name;
  return encoding_name(posenc == trained_posenc ? trained : short_posenc(posenc), trained,
                       baseline);
}

std::string posenc_of(const Settings& cell_key) {
  const std::string whole = value_of(cell_key, "posenc"), baseline = value_of(cell_key, "baseline");
  const std::string masked = "masked@", plus = " + ";
  if (baseline.rfind(masked, 0) != 0) return whole;
  const std::string term = concat("window(w=", baseline.substr(masked.size()), ')');
  const size_t end = std::min(whole.rfind(", map "), whole.size());  // with_map()
  std::string posenc = whole.substr(0, end);
  if (posenc == term) {
    posenc = "none";
  } else if (posenc.rfind(term + plus, 0) == 0) {
    posenc.erase(0, term.size() + plus.size());
  } else if (const size_t at = (posenc + plus).find(plus + term + plus); at != std::string::npos) {
    posenc.erase(at, plus.size() + term.size());
  }
  return posenc + whole.substr(end);
}

Settings setting_of(const Settings& config, const Settings& cell_key, uint64_t seed) {
  Settings setting = without(identity(config), {"posenc", "seed", "device", "init-hash"});
  for (const char* key : {"step", "precision", "device", "text"}) {
    setting = without(setting, {key});
    setting.emplace_back(key, value_of(cell_key, key));
  }
  setting.back().second = text_setting(setting.back().second, seed);
  return setting;
}

std::vector<std::string> differences_of(const std::vector<Settings>& all) {
  std::vector<std::string> texts(all.size());
  if (all.empty()) return texts;
  std::vector<std::string> keys = differing_keys(all);
  if (std::find(keys.begin(), keys.end(), "preset") != keys.end()) {
    std::map<std::string, Settings> presets;
    for (const Settings& one : all) {
      const std::string name = value_of(one, "preset");
      if (presets.count(name) == 0) presets[name] = preset_settings(name);
    }
    const auto follows = [&](const std::string& key) {
      return key != "preset" && std::all_of(all.begin(), all.end(), [&](const Settings& one) {
               const Settings& preset = presets.at(value_of(one, "preset"));
               const std::string own = value_of(preset, key);
               return !own.empty() && own == value_of(one, key);
             });
    };
    keys.erase(std::remove_if(keys.begin(), keys.end(), follows), keys.end());
  }
  for (size_t i = 0; i < all.size(); ++i) {
    for (const std::string& key : keys) {
      std::string value = value_of(all[i], key);
      const size_t slash = value.find('/');  // of a text: hash/split
      if (key == "text" && slash != std::string::npos && slash > 8) value.erase(8, slash - 8);
      texts[i].append(" ").append(key).append("=").append(value);
    }
  }
  return texts;
}

std::string folder_word(const std::string& expression) {
  constexpr size_t kLongest = 48, kShown = 40;
  std::string word;
  bool is_apart = false;  // from the character before, by others
  bool is_whole = true;   // nothing but blanks was left out
  for (const char c : expression) {
    const bool stays =
        static_cast<unsigned char>(c) < 0x80 && (std::isalnum(static_cast<unsigned char>(c)) ||
                                                 c == '_' || c == '.' || c == '=' || c == '+');
    if (stays && is_apart && !word.empty() && c != '+' && word.back() != '+') word += '-';
    if (stays && !(word.empty() && c == '.'))
      word += c;
    else if (c != ' ')
      is_whole = false;
    is_apart = !stays;
  }
  if (is_whole && word.size() <= kLongest) return word;
  return concat(word.substr(0, kShown), '-', hash_hex(expression).substr(0, 6));
}

std::string file_word(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_inner_dot = c == '.' && &c != &text.front();
    if (!std::isalnum(byte) && byte < 0x80 && !is_inner_dot) c = '-';
  }
  return text;
}

}  // namespace farfield::run
