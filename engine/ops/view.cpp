#include "engine/ops/view.h"

#include <algorithm>

#include "engine/autograd.h"
#include "engine/kernels.h"

namespace farfield {
namespace {

void run(const Blocks& blocks, const Tensor& x, Tensor& y) {
  dispatch(x.device(), [&](auto tag) { copy_blocks(tag, blocks, x, y); });
}

// "[1, 0, 2]"
std::string text(const std::vector<int>& order) {
  std::string result = "[";
  for (size_t i = 0; i < order.size(); ++i)
    result += (i > 0 ? ", " : "") + std::to_string(order[i]);
  return result + "]";
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  require<ShapeError>(x.numel() == shape.numel(), "reshape", "expected ", x.numel(),
                      " elements as in x", x.shape(), ", got shape ", shape);
  Tensor y = x.view(shape);
  record("reshape", y, {x}, [from = x.shape()](const Tensor& dy) { return Grads{dy.view(from)}; });
  return y;
}

Tensor permute(const Tensor& x, const std::vector<int>& order) {
  std::vector<int> inverse(order.size(), -1);
  std::vector<int64_t> sizes;
  bool ok = static_cast<int>(order.size()) == x.rank();
  for (size_t i = 0; ok && i < order.size(); ++i) {
    ok = order[i] >= 0 && order[i] < x.rank() && inverse[static_cast<size_t>(order[i])] < 0;
    if (!ok) break;
    inverse[static_cast<size_t>(order[i])] = static_cast<int>(i);
    sizes.push_back(x.dim(order[i]));
  }
  require<ShapeError>(ok, "permute", "expected each dimension of x", x.shape(), " once, got ",
                      text(order));
  Tensor y = Tensor::empty(Shape(sizes), x.dtype(), x.device());
  dispatch(x.device(), [&](auto tag) { permute(tag, x, order, y); });
  record("permute", y, {x}, [inverse](const Tensor& dy) { return Grads{permute(dy, inverse)}; });
  return y;
}

Tensor slice(const Tensor& x, int dim, int64_t begin, int64_t end) {
  require<ShapeError>(x.shape().has_dim(dim), "slice", "expected a dimension of x", x.shape(),
                      ", got ", dim);
  dim = x.shape().index(dim);
  const int64_t n = x.dim(dim), size = end - begin;
  require<ShapeError>(begin >= 0 && begin <= end && end <= n, "slice",
                      "expected 0 <= begin <= end <= ", n, " in dimension ", dim, " of x",
                      x.shape(), ", got ", begin, " and ", end);
  const int64_t outer = x.shape().product(0, dim);
  const int64_t inner = x.shape().product(dim + 1, x.rank());
  const Shape shape = x.shape().with(dim, size);
  Tensor y;
  if (outer == 1) {
    y = x.view(shape, begin * inner);
  } else {
    y = Tensor::empty(shape, x.dtype(), x.device());
    run({outer, size * inner, begin * inner, n * inner, 0, size * inner}, x, y);
  }
  record("slice", y, {x}, [=, from = x.shape()](const Tensor& dy) {
    Tensor dx = Tensor::zeros(from, dy.dtype(), dy.device());
    run({outer, size * inner, 0, size * inner, begin * inner, n * inner}, dy, dx);
    return Grads{dx};
  });
  return y;
}

void write_slice(Tensor& y, int dim, int64_t begin, const Tensor& x) {
  require<ShapeError>(y.shape().has_dim(dim), "write_slice", "expected a dimension of y", y.shape(),
                      ", got ", dim);
  dim = y.shape().index(dim);
  const int64_t n = y.dim(dim), size = x.rank() == y.rank() ? x.dim(dim) : 0;
  require<ShapeError>(x.shape() == y.shape().with(dim, size) && begin >= 0 && begin <= n - size,
                      "write_slice", "expected a part of y", y.shape(), " in dimension ", dim,
                      ", got ", x.shape(), " at ", begin);
  require<DTypeError>(x.dtype() == y.dtype(), "write_slice", "expected x in ", y.dtype(), ", got ",
                      x.dtype());
  require<DeviceError>(x.device() == y.device(), "write_slice", "expected x on ", y.device(),
                       ", got ", x.device());
  const int64_t inner = y.shape().product(dim + 1, y.rank());
  run({y.shape().product(0, dim), size * inner, 0, size * inner, begin * inner, n * inner}, x, y);
}

Tensor concat(const std::vector<Tensor>& parts, int dim) {
  require<ShapeError>(!parts.empty(), "concat", "expected at least one tensor, got none");
  const Tensor& first = parts[0];
  require<ShapeError>(first.shape().has_dim(dim), "concat", "expected a dimension of ",
                      first.shape(), ", got ", dim);
  dim = first.shape().index(dim);
  int64_t n = 0;
  for (const Tensor& part : parts) {
    require<ShapeError>(
        part.rank() == first.rank() && part.shape().with(dim, 0) == first.shape().with(dim, 0),
        "concat", "expected shapes equal but for dimension ", dim, ", got ", first.shape(), " and ",
        part.shape());
    require<DTypeError>(part.dtype() == first.dtype(), "concat", "expected equal dtypes, got ",
                        first.dtype(), " and ", part.dtype());
    require<DeviceError>(part.device() == first.device(), "concat",
                         "expected tensors of one device, got ", first.device(), " and ",
                         part.device());
    n += part.dim(dim);
  }
  const int64_t outer = first.shape().product(0, dim);
  const int64_t inner = first.shape().product(dim + 1, first.rank());
  Tensor y = Tensor::empty(first.shape().with(dim, n), first.dtype(), first.device());
  std::vector<Shape> shapes;
  int64_t begin = 0;
  for (const Tensor& part : parts) {
    const int64_t run_size = part.dim(dim) * inner;
    run({outer, run_size, 0, run_size, begin * inner, n * inner}, part, y);
    begin += part.dim(dim);
    shapes.push_back(part.shape());
  }
  record("concat", y, parts, [=](const Tensor& dy) {
    Grads grads;
    int64_t from = 0;
    for (const Shape& shape : shapes) {
      const int64_t run_size = shape[dim] * inner;
      grads.push_back(Tensor::empty(shape, dy.dtype(), dy.device()));
      run({outer, run_size, from * inner, n * inner, 0, run_size}, dy, grads.back());
      from += shape[dim];
    }
    return grads;
  });
  return y;
}

}  // namespace farfield
