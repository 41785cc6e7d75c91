#include "engine/ops/split_heads.h"

#include <algorithm>
#include <vector>

#include "engine/autograd.h"
#include "engine/kernels.h"

namespace farfield {
void check_rotation(std::string_view where, const Rotation& r, const Tensor& qkv,
                    const HeadCounts& counts) {
  const int64_t head_dim = qkv.dim(2) / counts.n_part();
  require<ShapeError>(r.cos.defined() == r.sin.defined(), where,
                      "expected cos and sin together, got one of them");
  const Rotation::Far& far = r.far;
  const bool has_far = far.cos_q.defined();
  require<ShapeError>(has_far == far.sin_q.defined() && has_far == far.cos_k.defined() &&
                          has_far == far.sin_k.defined(),
                      where, "expected all four tables of the far copies, got some of them");
  if (!r.cos.defined()) {
    require<ShapeError>(!r.scale_q.defined() && !r.scale_k.defined(), where,
                        "expected cos and sin with a scale, got a scale alone");
    require<ShapeError>(!has_far, where,
                        "expected cos and sin with the tables of far copies, got these alone");
    return;
  }
  const Shape& shape = r.cos.shape();
  const int64_t b = qkv.dim(0), t = qkv.dim(1);
  const bool fits =
      (shape.rank() == 2 && shape[0] == t) || (shape.rank() == 3 && shape[0] == b && shape[1] == t);
  require<ShapeError>(fits && 2 * shape[-1] <= head_dim, where,
                      "expected cos of shape [T, R/2] or [B, T, R/2] with B = ", b, ", T = ", t,
                      " and R <= head_dim = ", head_dim, ", got ", shape);
  const DType acc = accumulate_dtype(qkv.dtype());
  const auto check_table = [&](const Tensor& table, const char* name, const char* of_shape,
                               const Shape& wanted) {
    if (!table.defined()) return;
    require<ShapeError>(table.shape() == wanted, where, "expected ", name, of_shape, wanted,
                        ", got ", table.shape());
    require<DTypeError>(table.dtype() == acc, where, "expected ", name, " in ", acc, ", got ",
                        table.dtype());
    require<DeviceError>(table.device() == qkv.device(), where, "expected ", name, " on ",
                         qkv.device(), ", got ", table.device());
  };
  check_table(r.cos, "cos", " of the shape of cos, ", shape);
  check_table(r.sin, "sin", " of the shape of cos, ", shape);
  check_table(r.scale_q, "scale_q", " of the shape of cos, ", shape);
  check_table(r.scale_k, "scale_k", " of the shape of cos, ", shape);
  const Shape far_shape{t, shape[-1]};
  check_table(far.cos_q, "far.cos_q", " of shape [T, R/2], ", far_shape);
  check_table(far.sin_q, "far.sin_q", " of shape [T, R/2], ", far_shape);
  check_table(far.cos_k, "far.cos_k", " of shape [T, R/2], ", far_shape);
  check_table(far.sin_k, "far.sin_k", " of shape [T, R/2], ", far_shape);
  require<ShapeError>(!has_far || (!r.scale_q.defined() && !r.scale_k.defined()), where,
                      "expected no scales beside the tables of far copies, which have none");
}

void check_qkv(std::string_view where, const Tensor& qkv, const HeadCounts& counts) {
  const int64_t n_head = counts.n_head, n_kv_head = counts.n_kv_head;
  require<ShapeError>(n_head > 0 && n_kv_head > 0 && n_head % n_kv_head == 0, where,
                      "expected a number of heads that the number of heads of keys divides, got ",
                      n_head, " and ", n_kv_head);
  require<ShapeError>(qkv.rank() == 3 && qkv.dim(2) % counts.n_part() == 0, where, "expected qkv ",
                      counts.is_grouped()
                          ? concat("[B, T, (H + 2 G) K] with H = ", n_head, ", G = ", n_kv_head)
                          : concat("[B, T, 3 H K] with H = ", n_head),
                      ", got ", qkv.shape());
  require<DTypeError>(is_float(qkv.dtype()), where, "expected a floating type, got ", qkv.dtype());
}

Heads split_heads(const Tensor& qkv, const HeadCounts& counts, const Rotation& rotation) {
  check_qkv("split_heads", qkv, counts);
  check_rotation("split_heads", rotation, qkv, counts);
  const int64_t head_dim = qkv.dim(2) / counts.n_part();
  const Shape of_q{qkv.dim(0), counts.n_head, qkv.dim(1), head_dim},
      of_k = of_q.with(1, counts.n_kv_head);
  const auto make = [&](const Shape& shape) {
    return Tensor::empty(shape, qkv.dtype(), qkv.device());
  };
  Heads heads{make(of_q), make(of_k), make(of_k)};
  if (rotation.far.cos_q.defined()) heads.far = {make(of_q), make(of_k)};
  dispatch(qkv.device(), [&](auto tag) { split_heads_forward(tag, qkv, rotation, heads); });

  Rotation kept = rotation;
  for_each_angle(kept, [](Tensor& table) { table = table.detach(); });
  std::vector<Tensor*> outputs{&heads.q, &heads.k, &heads.v};
  if (heads.far.defined()) outputs.insert(outputs.end(), {&heads.far.q, &heads.far.k});
  const std::vector<Shape> shapes{of_q, of_k, of_k, of_q, of_k};  // of the outputs
  record("split_heads", outputs, {qkv},
         [kept, shapes, from = qkv.shape()](std::vector<Tensor> dys) {
           const Tensor any =
               *std::find_if(dys.begin(), dys.end(), [](const Tensor& dy) { return dy.defined(); });
           for (size_t i = 0; i < dys.size(); ++i)
             if (!dys[i].defined()) dys[i] = Tensor::zeros(shapes[i], any.dtype(), any.device());
           Heads dheads{dys[0], dys[1], dys[2]};
           if (dys.size() == 5) dheads.far = {dys[3], dys[4]};
           Tensor dqkv = Tensor::empty(from, any.dtype(), any.device());
           dispatch(any.device(), [&](auto tag) { split_heads_backward(tag, dheads, kept, dqkv); });
           return Grads{dqkv};
         });
  return heads;
}

}  // namespace farfield
