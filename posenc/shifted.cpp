// Training positions that start further on in each batch: p[m] = m + (offset + batch step) mod
// span. Kaiokendev 2023, "Extending Context is Hard ... but not Impossible".

#include "posenc/registry.h"
#include "posenc/remap.h"

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

std::unique_ptr<Encoding> make_shifted(const Arguments& a, const Config&) {
  return std::make_unique<Shifted>(a);
}

}  // namespace farfield::posenc
