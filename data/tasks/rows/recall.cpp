// Associative recall: the value that came with a key.
//
// Schlag, Irie and Schmidhuber 2021, "Linear Transformers Are Secretly Fast Weight Programmers",
// arXiv:2102.11174, on the number of associations that a memory holds.
#include <numeric>

#include "data/tasks/row.h"

namespace farfield::data {
namespace {

class Recall final : public Task {
 public:
  explicit Recall(TaskArguments& arguments)
      : n_key_(arguments.integer("keys", 1, 1'000'000)),
        n_value_(arguments.integer("values", 2, 1'000'000)) {}

  std::vector<std::string> vocabulary() const override {
    std::vector<std::string> texts;
    for (const std::string& number : numerals(n_key_)) texts.push_back('k' + number);
    for (const std::string& number : numerals(n_value_)) texts.push_back('v' + number);
    return texts;
  }

  LengthSplit lengths() const override {
    LengthSplit split{{8, 16, 32, 64, 128}, {}, 128};
    std::erase_if(split.train, [&](int64_t n) { return n > n_key_; });
    split.test = split.train;
    return split;
  }

 private:
  LengthLimits limits() const override {
    LengthLimits limits;
    limits.most = n_key_;
    return limits;
  }

  int64_t n_tokens(int64_t length) const override { return 2 * length + 2; }

  void draw(int64_t length, bool, Draws& draws, TaskSample& to) const override {
    std::vector<int64_t> keys(static_cast<size_t>(n_key_)), values;
    std::iota(keys.begin(), keys.end(), int64_t{0});
    for (int64_t i = 0; i < length; ++i) {
      const int64_t other = i + draws.below(n_key_ - i);  // Fisher and Yates
      std::swap(keys[static_cast<size_t>(i)], keys[static_cast<size_t>(other)]);
      values.push_back(draws.below(n_value_));
      to.add(keys[static_cast<size_t>(i)]);
      to.add(n_key_ + values.back());
    }
    const int64_t asked = draws.below(length);
    to.place = 2 * asked;
    to.add(keys[static_cast<size_t>(asked)]);
    to.add_copy(to.place + 1);
  }

  int64_t n_key_, n_value_;
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
                         {"values", "128", "different values"}},
           .make = [](TaskArguments& arguments) { return std::make_unique<Recall>(arguments); }}};
}

}  // namespace farfield::data
