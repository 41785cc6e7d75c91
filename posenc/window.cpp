// Sliding window: a query sees itself and the w - 1 tokens before it, and the first `sinks` tokens.
// Beltagy, Peters and Cohan 2020, "Longformer", arXiv:2004.05150, section 3.1.

#include "posenc/active_at.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

class Window final : public Encoding {
 public:
  explicit Window(const Arguments& a) : w_(a.integer("w")), sinks_(a.integer("sinks")), acts_(a) {}
  ScoreRule score(const Positions& p) const override {
    if (!acts_(p)) return {};
    return {.window = w_, .sinks = sinks_};
  }

 private:
  int64_t w_;      // tokens, the query included
  int64_t sinks_;  // tokens
  ActiveAt acts_;
};

}  // namespace

std::unique_ptr<Encoding> make_window(const Arguments& a, const Config&) {
  return std::make_unique<Window>(a);
}

}  // namespace farfield::posenc
