// Sliding window: a query sees itself and the w - 1 tokens before it, and the first `sinks` tokens.
// Beltagy, Peters and Cohan 2020, "Longformer", arXiv:2004.05150, section 3.1.

#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

class Window final : public Encoding {
 public:
  explicit Window(const Arguments& a)
      : w_(a.integer("w")), sinks_(a.integer("sinks")), eval_only_(a.word("at") == "eval") {}
  ScoreRule score(const Positions& p) const override {
    if (eval_only_ && p.phase == Phase::train) return {};
    return {.window = w_, .sinks = sinks_};
  }

 private:
  int64_t w_;      // tokens, the query included
  int64_t sinks_;  // tokens
  bool eval_only_;
};

}  // namespace

std::unique_ptr<Encoding> make_window(const Arguments& a, const Config&) {
  return std::make_unique<Window>(a);
}

}  // namespace farfield::posenc
