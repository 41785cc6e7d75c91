// Rotary position embedding: pairs of q and k components are turned by an angle that grows with the
// position, so a score depends on the distance alone.
// Su et al. 2021, "RoFormer", arXiv:2104.09864, section 3.2.2.

#include <cmath>
#include <vector>

#include "posenc/angles.h"
#include "posenc/registry.h"

namespace farfield::posenc {
namespace {

// Components that are rotated: floor(head_dim rotary_pct).
int64_t rotary_dims(const Arguments& a, const Config& c) {
  const double pct = a.number("rotary_pct");
  // The product of a short decimal and a size may come out just below an integer.
  const auto dims = static_cast<int64_t>(std::floor(static_cast<double>(c.head_dim) * pct + 1e-9));
  a.require(dims >= 2 && dims % 2 == 0, "rotary_pct",
            "expected an even number of rotated components, at least 2, got ", dims, " (head_dim ",
            c.head_dim, " x rotary_pct ", to_text(pct), ')');
  return dims;
}

class Rope final : public Encoding {
 public:
  Rope(const Arguments& a, const Config& c)
      : interleaved_(a.word("layout") == "interleaved"),
        // The rotated width, not head_dim, is in the exponent.
        angles_(rotary_dims(a, c), a.number("base"), a.word("angle_dtype") == "bf16") {}

  Rotation rotate(const Positions& p) const override {
    const size_t n_pair = angles_.inv_freq().size();
    std::vector<double> cos, sin;
    for (const double id : p.query_ids())
      for (size_t i = 0; i < n_pair; ++i) {
        const double angle = angles_(id, i);
        cos.push_back(std::cos(angle));
        sin.push_back(std::sin(angle));
      }
    const Shape shape{p.n_query, static_cast<int64_t>(n_pair)};
    return {.cos = Tensor::from(cos, shape, DType::f64, p.device),
            .sin = Tensor::from(sin, shape, DType::f64, p.device),
            .interleaved = interleaved_};
  }

 private:
  bool interleaved_;
  Angles angles_;
};

}  // namespace

std::unique_ptr<Encoding> make_rope(const Arguments& a, const Config& c) {
  return std::make_unique<Rope>(a, c);
}

}  // namespace farfield::posenc
