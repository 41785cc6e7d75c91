// Self-Extend: rope near, and from `window` on positions of groups of tokens, so that a model
// trained with rope meets no distance that it has not seen.
// Jin et al. 2024, "LLM Maybe LongLM: Self-Extend LLM Context Window Without Tuning",
// arXiv:2401.01325, section 3; the real shift: datamllab/LongLM, self_extend_patch/Llama.py.

#include <cmath>

#include "posenc/rotary.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// With G the group and W the window, a far query is at floor(m/G) + W - s, its key at floor(n/G);
// s is floor(W/G), or W/G where the shift is real.
class SelfExtend final : public Encoding {
 public:
  SelfExtend(const Arguments& a, const Config& c)
      : rotary_(a, c),
        group_(a.word("group") == "auto" ? 0 : a.integer("group")),
        window_(a.integer("window")),
        original_length_(a.integer("original_length")),
        real_shift_(a.word("shift") == "real"),
        acts_(a) {
    a.require(group_ > 0 || window_ < original_length_, "window",
              "expected less than original_length = ", original_length_,
              " where the group is to be found, got ", window_);
  }

  // Entry t >= window of a table serves the far pairs whose group ids lead to it. floor(m/G) -
  // floor(n/G) counts it in whole steps; a real shift puts it between two whole distances.
  Positions positions(const Positions& plain) const override {
    Positions p = plain;
    const int64_t group = group_of(p);
    if (group > 1 && real_shift_)
      for (auto t = static_cast<size_t>(window_); t < p.distance.size(); ++t)
        p.distance[t] -= shift(group) - whole_shift(group);
    return p;
  }

  Rotation rotate(const Positions& p) const override {
    Rotation rotation = rotary_.rotation(p);
    const int64_t group = group_of(p);
    if (group <= 1 || p.n_key <= window_) return rotation;
    const auto id = [group](double m) { return std::floor(m / static_cast<double>(group)); };
    const double ahead = static_cast<double>(window_) - shift(group);
    rotation.far = rotary_.far(
        p, [&](double m) { return id(m) + ahead; }, id);
    return rotation;
  }

  ScoreRule score(const Positions& p) const override {
    const int64_t group = group_of(p);
    if (group <= 1) return {};
    ScoreRule rule{.switch_distance = window_};
    if (p.n_key <= window_) return rule;  // nothing is far
    std::vector<int32_t> queries, keys;
    for (int64_t n = 0; n < p.n_key; ++n) keys.push_back(static_cast<int32_t>(n / group));
    const auto ahead = static_cast<int32_t>(window_ - window_ / group);
    for (int64_t m = p.n_key - p.n_query; m < p.n_key; ++m)
      queries.push_back(static_cast<int32_t>(m / group) + ahead);
    rule.far_ids_q = Tensor::from(queries, {p.n_query}, p.device);
    rule.far_ids_k = Tensor::from(keys, {p.n_key}, p.device);
    return rule;
  }

 private:
  // 1, which changes nothing, when it does not act. Without a given one, the smallest with
  // (L0 - W) G + W >= L: no distance of the call is above the original length then.
  int64_t group_of(const Positions& p) const {
    if (!acts_(p)) return 1;
    if (group_ > 0) return group_;
    const int64_t room = original_length_ - window_;
    return p.n_key <= original_length_ ? 1 : (p.n_key - window_ + room - 1) / room;
  }
  double whole_shift(int64_t group) const { return static_cast<double>(window_ / group); }
  double shift(int64_t group) const {
    return real_shift_ ? static_cast<double>(window_) / static_cast<double>(group)
                       : whole_shift(group);
  }

  Rotary rotary_;
  int64_t group_;            // tokens; 0: as the length asks for
  int64_t window_;           // tokens
  int64_t original_length_;  // tokens
  bool real_shift_;
  ActiveAt acts_;
};

}  // namespace

Row self_extend_row() {
  return {
      .name = "self_extend",
      .synonyms = {"selfextend"},
      .classes = "P2",
      .meaning = "rope near, and from a window on positions of groups of tokens",
      .formula =
          "rope with distance d below W = `window`, then floor(m/G) - floor(n/G) + W - s, G = "
          "`group`, s = floor(W/G), real: W/G; auto: the smallest G with (L0 - W) G + W >= L",
      .source = "Jin et al. 2024, arXiv:2401.01325, section 3",
      .arguments = two_branch_arguments(
          {word_argument("group", {"auto"},
                         "tokens that share a far position; auto: as few as keep distances up to "
                         "original_length")
               .or_integer()
               .count()
               .at_least(1)
               .at_most(kMostTokens),
           half_train_len_argument("window", "tokens up to which distances are true"),
           original_length_argument(),
           word_argument("shift", {"floor", "real"},
                         "how the far distances join: window - floor(window/group), or without "
                         "rounding")}),
      .trained_as = "rope",
      .make = make<SelfExtend>};
}

}  // namespace farfield::posenc
