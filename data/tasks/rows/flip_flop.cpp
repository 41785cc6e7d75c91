// Flip-flop language modelling: a memory of one bit with write, read and ignore.
//
// Liu et al. 2023, "Exposing Attention Glitches with Flip-Flop Language Modeling",
// arXiv:2306.00946.
#include "data/tasks/row.h"

namespace farfield::data {
namespace {

class FlipFlop final : public Task {
 public:
  explicit FlipFlop(TaskArguments& arguments) {
    is_drift_ = arguments.word("form", {"mixed", "drift"}) == "drift";
    if (!is_drift_) ignored_ = arguments.probabilities("p_i");
    is_noisy_ = arguments.word("loss", {"clean", "noisy"}) == "noisy";
  }

  std::vector<std::string> vocabulary() const override { return {"w", "r", "i", "0", "1"}; }

  LengthSplit lengths() const override {
    if (is_drift_) return {{128}, {834}, 256};
    return {{128}, {128}, 256};
  }

 private:
  enum : int32_t { kWrite, kRead, kIgnore, kZero };

  LengthLimits limits() const override {
    LengthLimits limits;
    limits.least = is_drift_ ? 20 : 4;  // the second write of drift is neither first nor last
    limits.is_even = true;
    return limits;
  }

  int64_t n_tokens(int64_t length) const override { return length; }

  void draw(int64_t length, bool is_training, Draws& draws, TaskSample& to) const override {
    const int64_t n = length / 2;
    const int64_t second_write = is_drift_ ? n / 10 : 0;
    double ignored = 0.5;
    if (!is_drift_) ignored = ignored_[static_cast<size_t>(pick(draws))];
    const double written = is_drift_ ? 0 : (1 - ignored) / 2;
    const bool all_count = is_noisy_ && is_training;
    int32_t memory = 0;
    int64_t written_at = 0;  // the place of the bit in memory
    for (int64_t k = 0; k < n; ++k) {
      int32_t instruction = kRead;
      if (k == 0 || k == second_write) {
        instruction = kWrite;
      } else if (k < n - 1) {
        const double u = draws.uniform();
        instruction = u < written ? kWrite : u < 1 - ignored ? kRead : kIgnore;
      }
      to.add(instruction, all_count && k > 0);

      int32_t bit = memory;
      if (is_drift_ && k > 0 && k == second_write)
        bit = 1 - memory;
      else if (instruction != kRead)
        bit = static_cast<int32_t>(draws.below(2));
      if (instruction == kRead) {
        to.add_copy(written_at);
        continue;
      }
      if (instruction == kWrite) {
        memory = bit;
        written_at = 2 * k + 1;
      }
      to.add(kZero + bit, all_count);
    }
  }

  // A single share needs no draw.
  int64_t pick(Draws& draws) const {
    const auto n = static_cast<int64_t>(ignored_.size());
    return n == 1 ? 0 : draws.below(n);
  }

  std::vector<double> ignored_;
  bool is_drift_ = false, is_noisy_ = false;
};

}  // namespace

std::vector<TaskRow> flip_flop_rows() {
  return {
      {.place = 30,
       .name = "flip_flop",
       .help = "instructions w, r or i, each followed by a bit. The bit after r is the bit after "
               "the last w; other bits are random",
       .length = "tokens, an even number",
       .source = "Liu et al. 2023 (arXiv:2306.00946)",
       .arguments =
           {{"form", "mixed",
             "mixed draws the instructions; drift has two writes, at the beginning and after a "
             "tenth, and r or i elsewhere, with the same probability"},
            {"p_i", "0.8",
             "of form=mixed: probability of i; w and r share the rest. Of a list, such as [0.9, "
             "0.98, 0.1], each sequence takes one"},
            {"loss", "clean", "clean scores the bits after r; noisy trains on every next token"}},
       .make = [](TaskArguments& arguments) { return std::make_unique<FlipFlop>(arguments); }}};
}

}  // namespace farfield::data
