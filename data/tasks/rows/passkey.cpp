// Pass-key retrieval with a small vocabulary: three digits between words without meaning, asked for
// at the end. passkey_text.h has the published prompt.
//
// Mohtashami and Jaggi 2023, "Landmark Attention: Random-Access Infinite Context Length for
// Transformers", arXiv:2305.16300.
#include <array>

#include "data/tasks/row.h"

namespace farfield::data {
namespace {

constexpr std::array<const char*, 16> kGarbage = {
    "while", "a",     "small", "river", "runs", "past", "old",   "hills",
    "under", "clear", "skies", "birds", "fly",  "over", "quiet", "fields"};
constexpr int64_t kKeyDigits = 3;

class Passkey final : public Task {
 public:
  explicit Passkey(TaskArguments& arguments)
      : block_(arguments.integer_if_given("landmark", 1, kMostTokens - 1).value_or(kMostTokens)) {}

  std::vector<std::string> vocabulary() const override {
    std::vector<std::string> texts(kGarbage.begin(), kGarbage.end());
    for (const std::string& digit : numerals(10)) texts.push_back(digit);
    texts.push_back("KEY");
    texts.push_back("ASK");
    if (has_landmarks()) texts.push_back("LANDMARK");
    return texts;
  }

  LengthSplit lengths() const override {
    LengthSplit split{{}, {64, 128, 256, 512}, 200};
    for (int64_t n = 16; n <= 64; ++n) split.train.push_back(n);
    return split;
  }

 private:
  static constexpr int64_t kDigit = kGarbage.size(), kKey = kDigit + 10, kAsk = kKey + 1,
                           kLandmark = kAsk + 1;
  static constexpr int64_t kOthers = 2 + 2 * kKeyDigits;  // KEY, ASK, and the digits twice
  static constexpr int64_t kMostTokens = 1'000'000;

  bool has_landmarks() const { return block_ < kMostTokens; }

  LengthLimits limits() const override {
    LengthLimits limits;
    limits.least = kOthers + (kOthers - 1) / block_;
    limits.most = kMostTokens;
    return limits;
  }

  int64_t n_tokens(int64_t length) const override { return length; }

  void draw(int64_t length, bool, Draws& draws, TaskSample& to) const override {
    std::array<int64_t, kKeyDigits> digits{}, places{};
    for (int64_t& digit : digits) digit = draws.below(10);
    const int64_t first_word = draws.below(kGarbage.size());
    const int64_t n_garbage = length - length / (block_ + 1) - kOthers;
    const int64_t n_before = draws.below(n_garbage + 1);

    const auto fill_block = [&] {  // landmarks are no answers, between the digits of one too
      if (next_place(to) % (block_ + 1) == block_) to.add(kLandmark);
    };
    const auto add = [&](int64_t token) {
      fill_block();
      to.add(token);
    };
    const auto add_garbage = [&](int64_t from, int64_t end) {  // one sentence, over and over
      for (int64_t i = from; i < end; ++i)
        add((first_word + i) % static_cast<int64_t>(kGarbage.size()));
    };
    add_garbage(0, n_before);
    add(kKey);
    for (size_t i = 0; i < digits.size(); ++i) {
      add(kDigit + digits[i]);
      places[i] = next_place(to) - 1;
    }
    to.place = places[0];
    add_garbage(n_before, n_garbage);
    add(kAsk);
    for (const int64_t place : places) {
      fill_block();
      to.add_copy(place);
    }
    if (next_place(to) < length) fill_block();
  }

  static int64_t next_place(const TaskSample& sample) {
    return static_cast<int64_t>(sample.tokens.size());
  }

  int64_t block_;  // tokens before each landmark; kMostTokens: there is none
};

}  // namespace

std::vector<TaskRow> passkey_rows() {
  return {{.place = 40,
           .name = "passkey",
           .help = "words of a cyclic sentence, KEY and three digits at a random place between "
                   "them, ASK, the digits again",
           .length = "tokens, answer included",
           .source = "after Mohtashami and Jaggi 2023 (arXiv:2305.16300)",
           .arguments = {{"landmark", "none",
                          "a word LANDMARK after every so many other tokens, for the encoding "
                          "landmark(block=...)"}},
           .make = [](TaskArguments& arguments) { return std::make_unique<Passkey>(arguments); }}};
}

}  // namespace farfield::data
