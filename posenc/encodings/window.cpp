// Sliding window: a query sees itself and the w - 1 tokens before it, and the first `sinks` tokens.
// Beltagy, Peters and Cohan 2020, "Longformer", arXiv:2004.05150, section 3.1.

#include "posenc/row.h"
#include "posenc/shared_arguments.h"

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

Row window_row() {
  return {
      .name = "window",
      .synonyms = {"sliding_window", "local", "swa"},
      .classes = "M",
      .meaning = "a query sees itself and the w - 1 tokens before it",
      .formula = "visible when d < w or n < `sinks`",
      .source = "Beltagy et al. 2020, arXiv:2004.05150, section 3.1",
      .arguments =
          {required_integer("w", "tokens that a query sees, itself included").tokens().at_least(1),
           at_argument(),
           integer_argument("sinks", 0, "first tokens, which stay visible").count().at_least(0)},
      .compared_as = "window(w=128)",
      .make = make<Window>};
}

}  // namespace farfield::posenc
