// Softmax over the scores that reach a threshold: the smaller ones disappear.
// After a remark of Kaiokendev 2023, "Extending context", that this did not help; the two readings
// of "threshold" are ours.

#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

class LogitClamp final : public Encoding {
 public:
  explicit LogitClamp(const Arguments& a) : acts_(a) {
    const bool is_relative = a.word("mode") == "relative";
    normalizer_.kind =
        is_relative ? Normalizer::Kind::clamp_relative : Normalizer::Kind::clamp_absolute;
    normalizer_.parameter = a.number("tau");
    a.require(!is_relative || normalizer_.parameter >= 0, "tau",
              "expected 0 or more below the largest score, got ", normalizer_.parameter);
  }

  ScoreRule score(const Positions& p) const override {
    if (!acts_(p)) return {};
    return {.normalizer = normalizer_};
  }

 private:
  ActiveAt acts_;
  Normalizer normalizer_;
};

}  // namespace

Row logit_clamp_row() {
  return {
      .name = "logit_clamp",
      .classes = "N",
      .meaning =
          "softmax over the scores that reach a threshold; the largest of a row always stays",
      .formula =
          "softmax over the scores >= max - `tau`; absolute: >= min(`tau`, max), max the largest "
          "of the row",
      .source = "remark of Kaiokendev 2023",
      .arguments = {required_number(
                        "tau", "relative: how far below the largest score; absolute: the score"),
                    word_argument("mode", {"relative", "absolute"}, "what tau is measured from"),
                    at_argument()},
      .compared_as = "rope + logit_clamp(tau=8, at=eval)",
      .trained_as = "rope",
      .make = make<LogitClamp>};
}

}  // namespace farfield::posenc
