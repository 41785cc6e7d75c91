// PARITY: whether a bit string has an odd number of ones.
//
// Anil et al. 2022, "Exploring Length Generalization in Large Language Models", arXiv:2207.04901:
// scratchpads, padding, and masks without distractors.
// Chiang and Cholak 2022, "Overcoming a Theoretical Limitation of Self-Attention",
// arXiv:2202.12172: training strings with few zeros.
#include <algorithm>

#include "data/tasks/row.h"

namespace farfield::data {
namespace {

enum class ParityForm { plain, prefix, scratchpad, padded };

class Parity final : public Task {
 public:
  explicit Parity(TaskArguments& arguments) {
    const std::string form = arguments.word("form", {"plain", "prefix", "scratchpad", "padded"});
    form_ = form == "plain"        ? ParityForm::plain
            : form == "prefix"     ? ParityForm::prefix
            : form == "scratchpad" ? ParityForm::scratchpad
                                   : ParityForm::padded;
    zeros_ = arguments.integer_or("all", "zeros", 0, 1'000'000);
    if (form_ == ParityForm::padded) width_ = arguments.integer("width", 1, 100'000);
  }

  std::vector<std::string> vocabulary() const override {
    std::vector<std::string> texts = {"0", "1", "SEP"};
    if (form_ == ParityForm::padded) texts.push_back("PAD");
    return texts;
  }

  LengthSplit lengths() const override {
    LengthSplit split = small_lengths();
    if (form_ == ParityForm::padded) {
      std::erase_if(split.train, [&](int64_t n) { return n > width_; });
      std::erase_if(split.test, [&](int64_t n) { return n > width_; });
    }
    return split;
  }

  // The token before p_t holds p_(t-1), or is SEP or PAD.
  std::vector<int64_t> needed_distances(int64_t length) const override {
    if (form_ == ParityForm::scratchpad) return {0, length};
    if (form_ == ParityForm::padded) return {0, width_};
    return {};
  }

 private:
  static constexpr int32_t kSeparator = 2, kPadding = 3;

  LengthLimits limits() const override {
    LengthLimits limits;
    if (form_ == ParityForm::padded) limits.most = width_;
    return limits;
  }

  int64_t n_tokens(int64_t length) const override {
    if (form_ == ParityForm::scratchpad) return 2 * length + 1;
    if (form_ == ParityForm::padded) return 2 * width_ + 1;
    return length + 2;
  }

  std::vector<int32_t> bits(int64_t n, bool is_training, Draws& draws) const {
    std::vector<int32_t> drawn;
    if (!zeros_ || !is_training) {
      for (int64_t i = 0; i < n; ++i) drawn.push_back(static_cast<int32_t>(draws.below(2)));
      return drawn;
    }
    int64_t n_zero = std::min(n, draws.below(*zeros_ + 1));
    for (int64_t n_left = n; n_left > 0; --n_left) {  // every order has the same probability
      const bool is_zero = draws.below(n_left) < n_zero;
      drawn.push_back(is_zero ? 0 : 1);
      if (is_zero) --n_zero;
    }
    return drawn;
  }

  void draw(int64_t length, bool is_training, Draws& draws, TaskSample& to) const override {
    const std::vector<int32_t> drawn = bits(length, is_training, draws);
    std::vector<int32_t> parities;
    int32_t parity = 0;
    for (const int32_t bit : drawn) parities.push_back(parity ^= bit);

    const bool is_padded = form_ == ParityForm::padded;
    const int64_t n_pad = is_padded ? width_ - length : 0;
    const int64_t n_before = is_padded ? draws.below(n_pad + 1) : 0;
    const auto add_block = [&](const std::vector<int32_t>& symbols, bool are_answers) {
      for (int64_t i = 0; i < n_before; ++i) to.add(kPadding);
      for (const int32_t symbol : symbols) to.add(symbol, are_answers);
      for (int64_t i = n_before; i < n_pad; ++i) to.add(kPadding);
    };
    add_block(drawn, false);
    to.add(kSeparator);
    if (is_padded || form_ == ParityForm::scratchpad) {
      add_block(parities, true);
      return;
    }
    to.add(parity, true);
    if (form_ == ParityForm::plain) return;
    for (size_t i = 0; i < parities.size(); ++i) {
      to.targets[i + 1] = parities[i];
      to.is_answer[i + 1] = 1;
    }
  }

  ParityForm form_ = ParityForm::plain;
  std::optional<int64_t> zeros_;
  int64_t width_ = 0;
};

}  // namespace

std::vector<TaskRow> parity_rows() {
  return {
      {.place = 10,
       .name = "parity",
       .help = "n bits, SEP, their sum mod 2",
       .length = "bits",
       .source = "Anil et al. 2022 (arXiv:2207.04901); zeros: Chiang and Cholak 2022 "
                 "(arXiv:2202.12172)",
       .arguments =
           {{"form", "plain",
             "plain; prefix asks at each bit for the sum so far too; scratchpad has the sums of "
             "all "
             "prefixes behind SEP; padded is a scratchpad filled with PAD to a length that does "
             "not depend on n"},
            {"zeros", "all",
             "all: training strings are uniform; N: they have a uniform number of zeros in 0 ... "
             "N, "
             "in random places"},
            {"width", "64", "of form=padded: tokens on each side of SEP"}},
       .make = [](TaskArguments& arguments) { return std::make_unique<Parity>(arguments); }}};
}

}  // namespace farfield::data
