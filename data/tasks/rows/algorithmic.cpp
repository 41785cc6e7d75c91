// Tasks whose output is a function of the input alone: `input SEP output`, the output scored.
//
// Ruoss et al. 2023, "Randomized Positional Encodings Boost Length Generalization of Transformers",
// arXiv:2305.16843; `first`: Chiang and Cholak 2022, "Overcoming a Theoretical Limitation of
// Self-Attention", arXiv:2202.12172; the token that ends the output: Newman et al. 2020, "The EOS
// Decision and Length Extrapolation", arXiv:2010.07174.
#include <algorithm>
#include <numeric>

#include "data/tasks/row.h"
#include "engine/base/error.h"

namespace farfield::data {
namespace {

using Symbols = std::vector<int32_t>;

Symbols uniform_symbols(int64_t n, int64_t n_kind, Draws& draws) {
  Symbols drawn;
  for (int64_t i = 0; i < n; ++i) drawn.push_back(static_cast<int32_t>(draws.below(n_kind)));
  return drawn;
}

// The task that a row describes.
struct Algorithm {
  Symbols (*solve)(const Symbols& input) = nullptr;
  bool is_rearrangement = false;                  ///< solve() looks at no symbol
  int64_t n_input_kind = 2;                       ///< different symbols that are drawn
  std::vector<std::string> symbols = {"0", "1"};  ///< those of the input first
  int64_t outputs_per_input = 0;                  ///< 0: one output
  Symbols (*input)(int64_t n, int64_t n_kind, Draws& draws) = uniform_symbols;
  bool has_odd_input = false;  ///< an even length has one symbol less
  bool has_end = false;        ///< EOS ends the output
  LengthSplit lengths = small_lengths();
};

class Algorithmic final : public Task {
 public:
  explicit Algorithmic(Algorithm algorithm) : is_(std::move(algorithm)) {}

  std::vector<std::string> vocabulary() const override {
    std::vector<std::string> texts = is_.symbols;
    texts.push_back("SEP");
    if (is_.has_end) texts.push_back("EOS");
    return texts;
  }

  LengthSplit lengths() const override { return is_.lengths; }
  int32_t end() const override {
    return is_.has_end ? static_cast<int32_t>(is_.symbols.size()) + 1 : -1;
  }

 private:
  int64_t n_inputs(int64_t length) const {
    return is_.has_odd_input && length % 2 == 0 ? length - 1 : length;
  }

  int64_t n_tokens(int64_t length) const override {
    const int64_t n_output = is_.outputs_per_input == 0 ? 1 : is_.outputs_per_input * length;
    return n_inputs(length) + 1 + n_output + (is_.has_end ? 1 : 0);
  }

  void draw(int64_t length, bool, Draws& draws, TaskSample& to) const override {
    const Symbols input = is_.input(n_inputs(length), is_.n_input_kind, draws);
    const auto separator = static_cast<int64_t>(is_.symbols.size());
    for (const int32_t symbol : input) to.add(symbol);
    to.add(separator);
    if (is_.is_rearrangement) {
      Symbols places(input.size());
      std::iota(places.begin(), places.end(), 0);
      for (const int32_t place : is_.solve(places)) to.add_copy(place);
    } else {
      for (const int32_t symbol : is_.solve(input)) to.add(symbol, true);
    }
    if (is_.has_end) to.add(end(), true);
  }

  Algorithm is_;
};

int32_t sum(const Symbols& symbols) { return std::accumulate(symbols.begin(), symbols.end(), 0); }

Symbols unchanged(const Symbols& input) { return input; }
Symbols twice(const Symbols& input) {
  Symbols output = input;
  output.insert(output.end(), input.begin(), input.end());
  return output;
}
Symbols reversed(const Symbols& input) { return {input.rbegin(), input.rend()}; }
Symbols ascending(const Symbols& input) {
  Symbols output = input;
  std::sort(output.begin(), output.end());
  return output;
}

template <size_t first>  // the parity of the indices that come first
Symbols by_parity(const Symbols& input) {
  Symbols output;
  for (const size_t from : {first, 1 - first})
    for (size_t i = from; i < input.size(); i += 2) output.push_back(input[i]);
  return output;
}

constexpr int32_t kHidden = 2, kOddEnd = 3;

// A string twice, with a hole in one of the two.
Symbols string_with_hole(int64_t n, int64_t n_kind, Draws& draws) {
  if (n == 1) return {1};
  Symbols input = twice(uniform_symbols(n / 2, n_kind, draws));
  input[static_cast<size_t>(draws.below(static_cast<int64_t>(input.size())))] = kHidden;
  if (n % 2 == 1) input.push_back(kOddEnd);
  return input;
}

Symbols symbol_in_hole(const Symbols& input) {
  if (input.size() == 1) return {input.front()};
  const size_t half = input.size() / 2;
  const auto at =
      static_cast<size_t>(std::find(input.begin(), input.end(), kHidden) - input.begin());
  return {input[at < half ? at + half : at - half]};
}

constexpr int32_t kModulus = 5, kPlus = 5, kTimes = 6, kMinus = 7;

Symbols expression(int64_t n, int64_t, Draws& draws) {
  Symbols input;
  for (int64_t i = 0; i < n; ++i)
    input.push_back(
        static_cast<int32_t>(i % 2 == 0 ? draws.below(kModulus) : kPlus + draws.below(3)));
  return input;
}

Symbols value_of_expression(const Symbols& input) {
  int32_t total = 0, term = input[0];  // the term is not in the total yet
  for (size_t i = 1; i + 1 < input.size(); i += 2) {
    const int32_t digit = input[i + 1];
    if (input[i] == kTimes) {
      term = term * digit % kModulus;
    } else {
      total += term;
      term = input[i] == kMinus ? kModulus - digit : digit;
    }
  }
  return {(total + term) % kModulus};
}

constexpr const char* kRuoss = "Ruoss et al. 2023 (arXiv:2305.16843)";

const TaskArgument kEosArgument = {"eos", "none",
                                   "token: EOS ends the output, and is scored; none: no EOS"};

bool has_end(TaskArguments& arguments) {
  return arguments.word("eos", {"none", "token"}) == "token";
}

// A row without options.
TaskRow algorithmic_row(int place, std::string name, std::string help, const Algorithm& algorithm) {
  return {.place = place,
          .name = std::move(name),
          .help = std::move(help),
          .length = "input symbols",
          .source = kRuoss,
          .make = [algorithm](TaskArguments&) { return std::make_unique<Algorithmic>(algorithm); }};
}

}  // namespace

std::vector<TaskRow> algorithmic_rows() {
  TaskRow first = algorithmic_row(20, "first", "n bits, SEP, the first bit",
                                  {.solve = [](const Symbols& s) { return Symbols{s[0]}; },
                                   .is_rearrangement = true,
                                   .lengths = {{24}, {64, 128, 256}, 3000}});
  first.source = "Chiang and Cholak 2022 (arXiv:2202.12172)";

  TaskRow copy = algorithmic_row(60, "copy", "n symbols, SEP, the same symbols", {});
  copy.source = "our own; eos: Newman et al. 2020 (arXiv:2010.07174)";
  copy.arguments = {{"alphabet", "2", "different symbols"}, kEosArgument};
  copy.make = [](TaskArguments& arguments) {
    const int64_t n = arguments.integer("alphabet", 2, 65'536);
    return std::make_unique<Algorithmic>(Algorithm{.solve = unchanged,
                                                   .is_rearrangement = true,
                                                   .n_input_kind = n,
                                                   .symbols = numerals(n),
                                                   .outputs_per_input = 1,
                                                   .has_end = has_end(arguments)});
  };

  TaskRow reverse =
      algorithmic_row(61, "reverse_string", "n bits, SEP, the bits from the last to the first", {});
  reverse.source = concat(kRuoss, "; eos: Newman et al. 2020 (arXiv:2010.07174)");
  reverse.arguments = {kEosArgument};
  reverse.make = [](TaskArguments& arguments) {
    return std::make_unique<Algorithmic>(Algorithm{.solve = reversed,
                                                   .is_rearrangement = true,
                                                   .outputs_per_input = 1,
                                                   .has_end = has_end(arguments)});
  };

  TaskRow odds = algorithmic_row(63, "odds_first",
                                 "n bits, SEP, the bits of odd index, the bits of even index", {});
  odds.arguments = {{"order", "odd_first", "odd_first or even_first; the first bit has index 0"}};
  odds.make = [](TaskArguments& arguments) {
    const bool is_odd = arguments.word("order", {"odd_first", "even_first"}) == "odd_first";
    return std::make_unique<Algorithmic>(Algorithm{.solve = is_odd ? by_parity<1> : by_parity<0>,
                                                   .is_rearrangement = true,
                                                   .outputs_per_input = 1});
  };

  return {
      std::move(first),
      std::move(copy),
      std::move(reverse),
      algorithmic_row(62, "duplicate_string", "n bits, SEP, the bits twice",
                      {.solve = twice, .is_rearrangement = true, .outputs_per_input = 2}),
      std::move(odds),
      algorithmic_row(
          64, "bucket_sort", "n symbols 0 to 4, SEP, the symbols in ascending order",
          {.solve = ascending, .n_input_kind = 5, .symbols = numerals(5), .outputs_per_input = 1}),
      algorithmic_row(
          65, "missing_duplicate_string",
          "a bit string twice, with ? instead of one bit (and a full stop if n is odd), SEP, the "
          "hidden bit",
          {.solve = symbol_in_hole, .symbols = {"0", "1", "?", "."}, .input = string_with_hole}),
      algorithmic_row(66, "parity_check", "n bits, SEP, their sum mod 2",
                      {.solve = [](const Symbols& s) { return Symbols{sum(s) % 2}; }}),
      algorithmic_row(67, "even_pairs",
                      "n bits, SEP, 1 if an odd number of neighbours differ, else 0",
                      {.solve = [](const Symbols& s) { return Symbols{s.front() ^ s.back()}; }}),
      algorithmic_row(
          68, "cycle_navigation",
          "n steps on a circle of five states (0 back, 1 stay, 2 forward), SEP, the last state, "
          "from state 0 on",
          {.solve =
               [](const Symbols& s) {
                 const auto n_back = static_cast<int32_t>(s.size()) % kModulus;
                 return Symbols{(sum(s) + kModulus - n_back) % kModulus};
               },
           .n_input_kind = 3,
           .symbols = numerals(5)}),
      algorithmic_row(
          69, "modular_arithmetic",
          "digits 0 to 4 with +, * or - between them (an even n has one symbol less), SEP, the "
          "value mod 5; * binds tighter",
          {.solve = value_of_expression,
           .n_input_kind = kModulus,
           .symbols = {"0", "1", "2", "3", "4", "+", "*", "-"},
           .input = expression,
           .has_odd_input = true}),
  };
}

}  // namespace farfield::data
