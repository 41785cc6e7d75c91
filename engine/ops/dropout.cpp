#include "engine/ops/dropout.h"

#include "engine/autograd.h"
#include "engine/kernels.h"

namespace farfield {

Tensor dropout(const Tensor& x, double p, const Random& random, int64_t first,
               const Columns& columns, const Tensor& stream) {
  require<ConfigError>(p >= 0 && p < 1, "dropout",
                       "expected a share of elements from 0 to below 1, got ", p);
  require<DTypeError>(is_float(x.dtype()), "dropout", "expected a floating type, got ", x.dtype());
  require<ConfigError>(first >= 0 && first % DropoutMask::kGroup == 0, "dropout",
                       "expected a part that begins at a multiple of ", DropoutMask::kGroup,
                       " elements, got ", first,
                       "; is the model's width times its training length no such multiple?");
  require<ShapeError>(columns.n_whole == 0 || (x.rank() > 0 && columns.begin >= 0 &&
                                               columns.begin + x.dim(-1) <= columns.n_whole),
                      "dropout", "expected columns of ", columns.n_whole, ", got ", x.shape(),
                      " from column ", columns.begin, " on");
  check_stream("dropout", stream, x.device());
  const DropoutMask mask{random,
                         DropoutMask::dropped_of(p),
                         static_cast<uint64_t>(first / DropoutMask::kGroup),
                         columns.n_whole,
                         columns.begin,
                         stream.defined() ? stream.data<int32_t>() : nullptr};
  if (mask.n_dropped == 0) return x;
  const auto masked = [mask, stream](const Tensor& from) {  // keeps the words that it reads
    Tensor to = empty_like(from);
    dispatch(from.device(), [&](auto tag) { dropout(tag, mask, from, to); });
    return to;
  };
  Tensor y = masked(x);
  record("dropout", y, {x}, [masked](const Tensor& dy) { return Grads{masked(dy)}; });
  return y;
}

}  // namespace farfield
