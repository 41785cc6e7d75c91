#include "engine/ops/embedding.h"

#include <algorithm>
#include <vector>

#include "engine/autograd.h"
#include "engine/kernels.h"

namespace farfield {
namespace {

void check_ids(const Tensor& ids, int64_t n) {
  if (ids.device().kind != Device::Kind::cpu) return;  // reading them back would stall the device
  const int32_t* const id = ids.data<int32_t>();
  const int32_t* const bad =
      std::find_if(id, id + ids.numel(), [n](int32_t i) { return i < 0 || i >= n; });
  require<ShapeError>(bad == id + ids.numel(), "embedding", "expected ids from 0 to ", n - 1,
                      ", got ", bad == id + ids.numel() ? 0 : *bad, " at position ", bad - id);
}

}  // namespace

Tensor embedding(const Tensor& table, const Tensor& ids, DType out) {
  require<ShapeError>(table.rank() == 2, "embedding", "expected a table [V, D], got ",
                      table.shape());
  require<DTypeError>(is_float(table.dtype()) && is_float(out), "embedding",
                      "expected a floating table and result, got ", table.dtype(), " and ", out);
  require<DTypeError>(ids.dtype() == DType::i32, "embedding", "expected int32 ids, got ",
                      ids.dtype());
  require<DeviceError>(ids.device() == table.device(), "embedding", "expected ids on ",
                       table.device(), ", got ", ids.device());
  check_ids(ids, table.dim(0));
  std::vector<int64_t> sizes(ids.shape().begin(), ids.shape().end());
  sizes.push_back(table.dim(1));
  Tensor y = Tensor::empty(Shape(sizes), out, table.device());
  dispatch(table.device(), [&](auto tag) { embedding_forward(tag, table, ids, y); });
  record("embedding", y, {table},
         [ids = ids.detach(), shape = table.shape(), dtype = table.dtype()](const Tensor& dy) {
           Tensor dtable = Tensor::empty(shape, dtype, dy.device());
           dispatch(dy.device(), [&](auto tag) { embedding_backward(tag, ids, dy, dtable); });
           return Grads{dtable};
         });
  return y;
}

}  // namespace farfield
