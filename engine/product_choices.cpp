#include "engine/product_choices.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/dispatch.h"
#include "engine/kernels/product_choices.h"

namespace farfield {
namespace {

constexpr std::string_view kWhere = "products";
constexpr int kVersion = 1;

std::string words_of(const std::array<uint64_t, 8>& algorithm) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint64_t word : algorithm)
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[word >> shift & 15];
  return text;
}

bool read_words(std::string_view text, std::array<uint64_t, 8>& algorithm) {
  if (text.size() != 16 * algorithm.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) return false;
    uint64_t& word = algorithm[i / 16];
    word = word << 4 | static_cast<uint64_t>(is_digit ? c - '0' : c - 'a' + 10);
  }
  return true;
}

// The checksum of everything that the products' bits depend on.
std::string checksum_of(const ProductChoices& choices) {
  Hasher hasher;
  const auto add = [&](const std::string& text) { hasher.update(text + '\n'); };
  add(choices.device);
  add(choices.library);
  for (const auto& [product, choice] : choices.of) add(product + ' ' + words_of(choice.algorithm));
  return hasher.hex();
}

}  // namespace

std::string summary(const ProductChoices& choices) {
  const auto ms = [](double time_us) { return fixed(time_us * 1e-3, 3); };
  double time_us = 0, first_us = 0, dbias_us = 0, instead_us = 0;
  int n_other = 0, n_dbias = 0, n_instead = 0;
  for (const auto& [product, choice] : choices.of) {
    time_us += choice.time_us;
    first_us += choice.first_us;
    n_other += choice.time_us < choice.first_us;
    if (choice.instead_us == 0) continue;
    dbias_us += choice.time_us;
    instead_us += choice.instead_us;
    n_dbias += 1;
    n_instead += choice.is_none();
  }
  const std::string changing = text_of_changing(choices);
  return concat(choices.of.size(), " measured, ", n_other,
                " faster by another algorithm than the one that ", choices.library,
                " proposes first; one of each takes ", ms(time_us), " ms instead of ", ms(first_us),
                n_dbias == 0
                    ? ""
                    : concat("; ", n_dbias, " with dbias take ", ms(dbias_us), " ms instead of ",
                             ms(instead_us), " with a pass for it, kept for ", n_instead),
                changing.empty() ? "" : "; ", changing);
}

std::string text_of_changing(const ProductChoices& choices) {
  const auto n = std::count_if(choices.of.begin(), choices.of.end(),
                               [](const auto& one) { return !one.second.repeats; });
  if (n == 0) return "";
  return concat(n, n == 1 ? " gives" : " give", " other bits each time, by whichever algorithm: a ",
                "run with ", n == 1 ? "it" : "them", " does not repeat bit by bit");
}

std::string to_text(const ProductChoices& choices) {
  Json products = Json::array();
  for (const auto& [product, choice] : choices.of)
    products.push_back({{"product", product},
                        {"algorithm", words_of(choice.algorithm)},
                        {"time_us", choice.time_us},
                        {"first_us", choice.first_us},
                        {"candidates", choice.n_candidate},
                        {"instead_us", choice.instead_us},
                        {"repeats", choice.repeats}});
  const Json json = {{"version", kVersion},
                     {"device", choices.device},
                     {"library", choices.library},
                     {"checksum", checksum_of(choices)},
                     {"products", products}};
  return write_json(json, 2) + "\n";
}

ProductChoices parse_product_choices(const std::string& file, std::string_view text) {
  const Json json = read_json({kWhere, file, text});
  const auto expect = [&](bool ok, std::string_view what) {
    require<IoError>(ok, kWhere, file, ": expected ", what,
                     "; `train --tune on` makes such files, products.json of a run");
  };
  expect(json.is_object() && whole_member<int>(json, "version") == kVersion &&
             json.contains("products") && json["products"].is_array(),
         concat("the choices of products, version ", kVersion));
  ProductChoices choices;
  const auto text_of = [&](const Json& from, const char* key) {
    const auto found = whole_member<std::string>(from, key);
    expect(found.has_value(), concat("a text '", key, "'"));
    return *found;
  };
  choices.device = text_of(json, "device");
  choices.library = text_of(json, "library");
  for (const Json& one : json["products"]) {
    const std::string product = text_of(one, "product");
    ProductChoice choice;
    expect(read_words(text_of(one, "algorithm"), choice.algorithm),
           concat("128 hexadecimal digits as the algorithm of '", product, "'"));
    const auto number = [&](const char* key) {
      expect(one.contains(key) && one[key].is_number(), concat("a number '", key, "'"));
      return one[key].get<double>();
    };
    choice.time_us = number("time_us");
    choice.first_us = number("first_us");
    choice.n_candidate = whole_member<int>(one, "candidates").value_or(0);
    // Optional: older files lack this key.
    if (one.contains("instead_us")) choice.instead_us = number("instead_us");
    if (one.contains("repeats")) {
      const auto repeats = whole_member<bool>(one, "repeats");
      expect(repeats.has_value(), "true or false as 'repeats'");
      choice.repeats = *repeats;
    }
    expect(choices.of.emplace(product, choice).second,
           concat("each product once, got '", product, "' twice"));
  }
  require<IoError>(text_of(json, "checksum") == checksum_of(choices), kWhere, file,
                   ": the checksum does not fit its content: the file was changed or is damaged");
  return choices;
}

ProductChoices tune_products(const Device& device, const std::function<void()>& work) {
  return dispatch(device, [&](auto tag) { return tune_products(tag, work); });
}

void use_product_choices(const Device& device, const ProductChoices& choices) {
  dispatch(device, [&](auto tag) { use_product_choices(tag, choices); });
}

}  // namespace farfield
