#include "layers/init.h"

#include <cmath>

#include "engine/base/parallel.h"
#include "engine/base/random.h"

namespace farfield {
namespace {

// The places that elements of a shard have in the whole tensor.
class Places {
 public:
  Places(const Shape& whole, const Shard& shard) {
    if (shard.is_whole()) return;
    const int64_t row = whole.product(shard.dim + 1, whole.rank());
    own_ = (shard.end - shard.begin) * row;
    whole_ = shard.n_whole * row;
    begin_ = shard.begin * row;
  }
  int64_t operator()(int64_t i) const {
    return whole_ == 0 ? i : i / own_ * whole_ + begin_ + i % own_;
  }

 private:
  int64_t own_ = 0, whole_ = 0, begin_ = 0;  // elements behind one another
};

// value(random, i) is element i of the whole before it is rounded.
template <class F>
Tensor draw(const Initializer& init, std::string_view name, const Shape& shape, const Shard& shard,
            const F& value) {
  if (!init.draws)
    return Tensor::empty(shard.own_of(shape), init.dtype, init.device).set_requires_grad();
  Tensor host = Tensor::empty(shard.own_of(shape), init.dtype);
  const Places place(shape, shard);
  const Random random{init.seed, stream_of(name)};
  dispatch_float(init.dtype, [&](auto type) {
    using T = decltype(type);
    T* const data = host.data<T>();
    parallel_chunks(host.numel(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        data[i] =
            static_cast<T>(static_cast<float>(value(random, static_cast<uint64_t>(place(i)))));
    });
  });
  return host.to(init.device).set_requires_grad();
}

}  // namespace

Tensor Initializer::normal(std::string_view name, const Shape& shape, double std,
                           const Shard& shard) const {
  return draw(*this, name, shape, shard,
              [std](const Random& random, uint64_t i) { return std * random.normal(i); });
}

Tensor Initializer::uniform(std::string_view name, const Shape& shape, double bound,
                            const Shard& shard) const {
  return draw(*this, name, shape, shard, [bound](const Random& random, uint64_t i) {
    return bound * (2 * random.uniform(i) - 1);
  });
}

Tensor Initializer::constant(const Shape& shape, double value, const Shard& shard) const {
  return Tensor::full(shard.own_of(shape), value, dtype, device).set_requires_grad();
}

double scaled_std(double init_std, int64_t n_layer) {
  return init_std / std::sqrt(2.0 * static_cast<double>(n_layer));
}

double fan_in_bound(int64_t in) { return 1 / std::sqrt(static_cast<double>(in)); }

double xavier_bound(int64_t in, int64_t out, double gain) {
  return gain * std::sqrt(6 / static_cast<double>(in + out));
}

}  // namespace farfield
