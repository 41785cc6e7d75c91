// Training positions that start further on in each batch: p[m] = m + (offset + batch step) mod
// span. Kaiokendev 2023, "Extending Context is Hard ... but not Impossible".

#include "posenc/remap.h"
#include "posenc/row.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {
namespace {

// A shift of all positions changes nothing for relative encodings.
class Shifted final : public Encoding {
 public:
  explicit Shifted(const Arguments& a)
      : offset_(static_cast<uint64_t>(a.integer("offset"))),
        step_(static_cast<uint64_t>(a.integer("step"))),
        span_(static_cast<uint64_t>(a.integer("span"))) {}

  bool is_random(Phase phase) const override { return phase == Phase::train; }

  Positions positions(const Positions& p) const override {
    if (p.phase == Phase::eval) return p;
    // All factors are below 2^31: nothing overflows.
    return moved(p, static_cast<double>((offset_ + p.draw.index % span_ * step_) % span_));
  }

 private:
  uint64_t offset_, step_, span_;  // tokens
};

}  // namespace

Row shifted_row() {
  return {.name = "shifted",
          .classes = "P",
          .meaning = "training positions start further on in each batch",
          .formula = "training: p[m] = m + (`offset` + batch `step`) mod `span`",
          .source = "Kaiokendev 2023",
          .arguments =
              {tokens_argument("step", 2048, "tokens by which each batch starts further on")
                   .at_least(0),
               tokens_argument("span", 8192, "starts are below it, then from 0 again").at_least(1),
               tokens_argument("offset", 0, "start of the first batch").at_least(0)},
          .compared_as = "shifted + sinusoidal",
          .make = make<Shifted>};
}

}  // namespace farfield::posenc
