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
  return embedding_part(table, ids, out, 0, table.rank() == 2 ? table.dim(0) : 0);
}

Tensor embedding_part(const Tensor& table, const Tensor& ids, DType out, int64_t first,
                      int64_t n_row) {
  require<ShapeError>(table.rank() == 2, "embedding", "expected a table [V, D], got ",
                      table.shape());
  require<DTypeError>(is_float(table.dtype()) && is_float(out), "embedding",
                      "expected a floating table and result, got ", table.dtype(), " and ", out);
  require<DTypeError>(ids.dtype() == DType::i32, "embedding", "expected int32 ids, got ",
                      ids.dtype());
  require<DeviceError>(ids.device() == table.device(), "embedding", "expected ids on ",
                       table.device(), ", got ", ids.device());
  require<ShapeError>(first >= 0 && first + table.dim(0) <= n_row, "embedding", "expected rows of ",
                      n_row, ", got ", table.dim(0), " from row ", first, " on");
  check_ids(ids, n_row);
  std::vector<int64_t> sizes(ids.shape().begin(), ids.shape().end());
  sizes.push_back(table.dim(1));
  Tensor y = Tensor::empty(Shape(sizes), out, table.device());
  dispatch(table.device(), [&](auto tag) { embedding_forward(tag, table, first, n_row, ids, y); });
  record(
      "embedding", y, {table},
      [ids = ids.detach(), first, shape = table.shape(), dtype = table.dtype()](const Tensor& dy) {
        Tensor dtable = Tensor::empty(shape, dtype, dy.device());
        dispatch(dy.device(), [&](auto tag) { embedding_backward(tag, first, ids, dy, dtable); });
        return Grads{dtable};
      });
  return y;
}

}  // namespace farfield
