// Attention sinks: a query sees the first tokens and the recent ones, at the positions that they
// have in a cache of these alone.
// Xiao et al. 2023, "Efficient Streaming Language Models with Attention Sinks", arXiv:2309.17453,
// section 3.2.

#include <algorithm>
#include <vector>

#include "posenc/rotary.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// In the cache sink n is at n, the query at S + R - 1 once it is full, and a recent key as far
// before it as in the input. So recent pairs keep their distance, and sinks are at S + R - 1 - n.
class Streaming final : public Encoding {
 public:
  Streaming(const Arguments& a, const Config& c)
      : rotary_(a, c), sinks_(a.integer("sinks")), recent_(a.integer("recent")), acts_(a) {
    a.require(recent_ >= 1, "recent", "expected at least the query itself, got ", recent_,
              "; choose fewer sinks than train_len, or give recent");
  }

  Rotation rotate(const Positions& p) const override {
    Rotation rotation = rotary_.rotation(p);
    const auto query = static_cast<double>(size() - 1);
    if (acts_(p) && p.n_key > size())
      rotation.far = rotary_.far(
          p, [query](double) { return query; }, [](double n) { return n; });
    return rotation;
  }

  ScoreRule score(const Positions& p) const override {
    if (!acts_(p)) return {};
    ScoreRule rule{
        .window = recent_, .sinks = sinks_, .switch_distance = recent_, .switch_position = size()};
    if (p.n_key <= size()) return rule;  // nothing is far
    std::vector<int32_t> keys;           // of sinks n; no other far key is seen, any entry will do
    for (int64_t n = 0; n < p.n_key; ++n)
      keys.push_back(static_cast<int32_t>(std::min(n, size() - 1)));
    const std::vector<int32_t> queries(static_cast<size_t>(p.n_query),
                                       static_cast<int32_t>(size() - 1));
    rule.far_ids_q = Tensor::from(queries, {p.n_query}, p.device);
    rule.far_ids_k = Tensor::from(keys, {p.n_key}, p.device);
    return rule;
  }

 private:
  int64_t size() const { return sinks_ + recent_; }  // of the cache
  Rotary rotary_;
  int64_t sinks_, recent_;  // tokens, the query among the recent ones
  ActiveAt acts_;
};

}  // namespace

Row streaming_row() {
  return {.name = "streaming",
          .synonyms = {"sinks", "attention_sinks", "streaming_llm"},
          .classes = "P2, M",
          .meaning =
              "rope over the first and the recent tokens, at their positions in a cache of these",
          .formula =
              "visible when d < `recent` or n < `sinks`; rope with distance d, that of a sink at "
              "most sinks + recent - 1 - n",
          .source = "Xiao et al. 2023, arXiv:2309.17453, section 3.2",
          .arguments = two_branch_arguments(
              {integer_argument("sinks", 4, "first tokens, which stay visible")
                   .count()
                   .at_least(0)
                   .at_most(kMostTokens),
               required_integer("recent", "recent tokens that a query sees, itself included")
                   .tokens()
                   .derived("train_len - sinks",
                            [](const Config& c, const Arguments& a) {
                              return Value(c.train_len - a.integer("sinks"));
                            })
                   .at_least(1)
                   .at_most(kMostTokens)}),
          .trained_as = "rope",
          .make = make<Streaming>};
}

}  // namespace farfield::posenc
