// Associative recall: the value that came with a key.
//
// Schlag, Irie and Schmidhuber 2021, "Linear Transformers Are Secretly Fast Weight Programmers",
// arXiv:2102.11174, on the number of associations that a memory holds.
#include <algorithm>
#include <numeric>

#include "data/tasks/row.h"
#include "engine/base/error.h"

namespace farfield::data {
namespace {

class Recall final : public Task {
 public:
  explicit Recall(TaskArguments& arguments)
      : n_key_(arguments.integer("keys", 1, 1'000'000)),
        n_value_(arguments.integer("values", 2, 1'000'000)),
        n_question_(arguments.integer("questions", 1, 1'000'000)),
        is_joined_(arguments.word("form", {"separate", "joined"}) == "joined") {
    require<ConfigError>(!is_joined_ || n_key_ * n_value_ <= kMostPairs, "task",
                         "bad_argument: recall: form=joined: expected keys times values up to ",
                         kMostPairs, ", got ", n_key_, " times ", n_value_);
  }

  std::vector<std::string> vocabulary() const override {
    std::vector<std::string> texts;
    for (const std::string& number : numerals(n_key_)) texts.push_back('k' + number);
    for (const std::string& number : numerals(n_value_)) texts.push_back('v' + number);
    if (!is_joined_) return texts;
    for (const std::string& key : numerals(n_key_))
      for (const std::string& value : numerals(n_value_)) texts.push_back('k' + key + 'v' + value);
    return texts;
  }

  LengthSplit lengths() const override {
    LengthSplit split{{8, 16, 32, 64, 128}, {}, 128};
    std::erase_if(split.train, [&](int64_t n) { return n > n_key_; });
    split.test = split.train;
    return split;
  }

 private:
  static constexpr int64_t kMostPairs = 1'000'000;  // tokens of form=joined

  LengthLimits limits() const override {
    LengthLimits limits;
    limits.most = n_key_;
    return limits;
  }

  int64_t questions_of(int64_t length) const { return std::min(length, n_question_); }
  int64_t n_tokens(int64_t length) const override {
    return (is_joined_ ? 1 : 2) * length + 2 * questions_of(length);
  }

  void draw(int64_t length, bool, Draws& draws, TaskSample& to) const override {
    std::vector<int64_t> keys(static_cast<size_t>(n_key_)), values;
    std::iota(keys.begin(), keys.end(), int64_t{0});
    for (int64_t i = 0; i < length; ++i) {
      swap_with_later(keys, i, draws);
      values.push_back(draws.below(n_value_));
      add_pair(keys[static_cast<size_t>(i)], values.back(), to);
    }
    std::vector<int64_t> asked(static_cast<size_t>(length));
    std::iota(asked.begin(), asked.end(), int64_t{0});
    const int64_t n_question = questions_of(length);
    for (int64_t i = 0; i < n_question; ++i) {
      swap_with_later(asked, i, draws);
      const auto pair = static_cast<size_t>(asked[static_cast<size_t>(i)]);
      to.add(keys[pair]);
      if (is_joined_)
        to.add(n_key_ + values[pair], true);
      else
        to.add_copy(2 * asked[static_cast<size_t>(i)] + 1);
    }
    if (n_question == 1) to.place = (is_joined_ ? 1 : 2) * asked[0];
  }

  // A step of Fisher and Yates: which element stands at `i`.
  static void swap_with_later(std::vector<int64_t>& order, int64_t i, Draws& draws) {
    const int64_t other = i + draws.below(static_cast<int64_t>(order.size()) - i);
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(other)]);
  }

  void add_pair(int64_t key, int64_t value, TaskSample& to) const {
    if (is_joined_) {
      to.add(n_key_ + n_value_ + key * n_value_ + value);
      return;
    }
    to.add(key);
    to.add(n_key_ + value);
  }

  int64_t n_key_, n_value_, n_question_;
  bool is_joined_;  // a token for each pair
};

}  // namespace

std::vector<TaskRow> recall_rows() {
  return {{.place = 50,
           .name = "recall",
           .help = "n pairs of a key and a value, all keys different, then one of the keys and its "
                   "value",
           .length = "pairs",
           .source = "after Schlag, Irie and Schmidhuber 2021 (arXiv:2102.11174)",
           .arguments = {{"keys", "128", "different keys; the longest length"},
                         {"values", "128", "different values"},
                         {"questions", "1",
                          "keys that are asked for, each followed by its value; all different, so "
                          "that a sequence has no more questions than pairs"},
                         {"form", "separate",
                          "separate writes a pair as two tokens, joined as one, of which there are "
                          "keys times values"}},
           .make = [](TaskArguments& arguments) { return std::make_unique<Recall>(arguments); }}};
}

}  // namespace farfield::data
