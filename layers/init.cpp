#include "layers/init.h"

#include <cmath>

#include "engine/base/parallel.h"
#include "engine/base/random.h"

namespace farfield {
namespace {

// value(random, i) is element i before it is rounded.
template <class F>
Tensor draw(const Initializer& init, std::string_view name, const Shape& shape, const F& value) {
  Tensor host = Tensor::empty(shape, init.dtype);
  const Random random{init.seed, stream_of(name)};
  dispatch_float(init.dtype, [&](auto type) {
    using T = decltype(type);
    T* const data = host.data<T>();
    parallel_chunks(host.numel(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        data[i] = static_cast<T>(static_cast<float>(value(random, static_cast<uint64_t>(i))));
    });
  });
  return host.to(init.device).set_requires_grad();
}

}  // namespace

Tensor Initializer::normal(std::string_view name, const Shape& shape, double std) const {
  return draw(*this, name, shape,
              [std](const Random& random, uint64_t i) { return std * random.normal(i); });
}

Tensor Initializer::uniform(std::string_view name, const Shape& shape, double bound) const {
  return draw(*this, name, shape, [bound](const Random& random, uint64_t i) {
    return bound * (2 * random.uniform(i) - 1);
  });
}

Tensor Initializer::constant(const Shape& shape, double value) const {
  return Tensor::full(shape, value, dtype, device).set_requires_grad();
}

double scaled_std(double init_std, int64_t n_layer) {
  return init_std / std::sqrt(2.0 * static_cast<double>(n_layer));
}

double fan_in_bound(int64_t in) { return 1 / std::sqrt(static_cast<double>(in)); }

double xavier_bound(int64_t in, int64_t out, double gain) {
  return gain * std::sqrt(6 / static_cast<double>(in + out));
}

}  // namespace farfield
