#include "layers/init.h"

#include <cmath>

#include "engine/base/parallel.h"
#include "engine/base/random.h"

namespace farfield {

Tensor Initializer::normal(std::string_view name, const Shape& shape, double std) const {
  Tensor host = Tensor::empty(shape, dtype);
  const Random random{seed, stream_of(name)};
  dispatch_float(dtype, [&](auto type) {
    using T = decltype(type);
    T* const data = host.data<T>();
    parallel_chunks(host.numel(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        data[i] = static_cast<T>(static_cast<float>(std * random.normal(static_cast<uint64_t>(i))));
    });
  });
  return host.to(device).set_requires_grad();
}

Tensor Initializer::constant(const Shape& shape, double value) const {
  return Tensor::full(shape, value, dtype, device).set_requires_grad();
}

double scaled_std(double init_std, int64_t n_layer) {
  return init_std / std::sqrt(2.0 * static_cast<double>(n_layer));
}

}  // namespace farfield
