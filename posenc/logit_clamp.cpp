// Softmax over the scores that reach a threshold: the smaller ones disappear.
// After a remark of Kaiokendev 2023, "Extending context", that this did not help; the two readings
// of "threshold" are ours.

#include "posenc/active_at.h"
#include "posenc/registry.h"

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

std::unique_ptr<Encoding> make_logit_clamp(const Arguments& a, const Config&) {
  return std::make_unique<LogitClamp>(a);
}

}  // namespace farfield::posenc
