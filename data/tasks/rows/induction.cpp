// Induction: passages of a random text come again, and go on as they did before.
//
// Olsson et al. 2022, "In-context Learning and Induction Heads", arXiv:2209.11895.
#include <algorithm>

#include "data/tasks/row.h"
#include "engine/base/error.h"

namespace farfield::data {
namespace {

class Induction final : public Task {
 public:
  explicit Induction(TaskArguments& arguments)
      : n_symbol_(arguments.integer("symbols", 2, 1'000'000)),
        n_passage_(arguments.integer("passage", 2, 1'000'000)),
        n_cue_(arguments.integer("cue", 1, 1'000'000)) {
    require<ConfigError>(n_cue_ < n_passage_, "task", "bad_argument: expected a cue shorter than ",
                         "the passage of ", n_passage_, " symbols, got ", n_cue_);
  }

  std::vector<std::string> vocabulary() const override { return numerals(n_symbol_); }

  LengthSplit lengths() const override {
    LengthSplit split{{}, {}, 200};
    for (int64_t n = 2 * n_passage_; n <= 8 * n_passage_; ++n) split.train.push_back(n);
    for (int64_t n = 8; n <= 64; n *= 2) split.test.push_back(n * n_passage_);
    return split;
  }

 private:
  LengthLimits limits() const override {
    LengthLimits limits;
    limits.least = 2 * n_passage_;
    return limits;
  }

  int64_t n_tokens(int64_t length) const override { return length; }

  // New text and passages take turns. A passage is new text that has come once; the last place of
  // a sample is an answer.
  void draw(int64_t length, bool, Draws& draws, TaskSample& to) const override {
    std::vector<Range> once;
    for (int64_t n_left = length; n_left > 0;) {
      int64_t n_new = n_passage_ + draws.below(2 * n_passage_ + 1);
      if (n_left < n_new + 3 * n_passage_) n_new = n_left - n_passage_;
      once.push_back({static_cast<int64_t>(to.tokens.size()), n_new});
      for (int64_t i = 0; i < n_new; ++i) to.add(draws.below(n_symbol_));
      const int64_t passage = take(once, draws);
      for (int64_t i = 0; i < n_cue_; ++i) to.add(to.tokens[static_cast<size_t>(passage + i)]);
      for (int64_t i = n_cue_; i < n_passage_; ++i) to.add_copy(passage + i);
      n_left -= n_new + n_passage_;
    }
  }

  struct Range {
    int64_t first = 0, n = 0;
  };

  // The place of a passage in these ranges, which lose it: each place with the same probability.
  int64_t take(std::vector<Range>& ranges, Draws& draws) const {
    const auto places_in = [&](const Range& range) {
      return std::max<int64_t>(0, range.n - n_passage_ + 1);
    };
    int64_t n_place = 0;
    for (const Range& range : ranges) n_place += places_in(range);
    int64_t nth = draws.below(n_place);
    auto range = ranges.begin();
    for (; nth >= places_in(*range); ++range) nth -= places_in(*range);
    const Range old = *range;
    *range = {old.first, nth};
    ranges.push_back({old.first + nth + n_passage_, old.n - nth - n_passage_});
    return old.first + nth;
  }

  int64_t n_symbol_, n_passage_, n_cue_;
};

}  // namespace

std::vector<TaskRow> induction_rows() {
  return {
      {.place = 45,
       .name = "induction",
       .help = "random symbols, in which passages come again: their first symbols are shown, "
               "the others are the answers",
       .length = "tokens, answers included",
       .source = "after Olsson et al. 2022 (arXiv:2209.11895)",
       .arguments = {{"symbols", "32", "different symbols"},
                     {"passage", "8", "symbols of a passage"},
                     {"cue", "3", "symbols of it that are shown when it comes again"}},
       .make = [](TaskArguments& arguments) { return std::make_unique<Induction>(arguments); }}};
}

}  // namespace farfield::data
