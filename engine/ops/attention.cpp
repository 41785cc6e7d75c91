#include "engine/ops/attention.h"

#include <string_view>

#include "engine/autograd.h"

namespace farfield {
namespace {

constexpr std::string_view kWhere = "attention";

void check_same_kind(std::string_view name, const Tensor& x, DType dtype, const Device& device) {
  require<DTypeError>(x.dtype() == dtype, kWhere, "expected ", name, " in ", dtype, ", got ",
                      x.dtype());
  require<DeviceError>(x.device() == device, kWhere, "expected ", name, " on ", device, ", got ",
                       x.device());
}

void check_table(std::string_view name, const Tensor& x, const Shape& shape, const Tensor& q) {
  if (!x.defined()) return;
  require<ShapeError>(x.shape() == shape, kWhere, "expected ", name, " of shape ", shape, ", got ",
                      x.shape());
  check_same_kind(name, x, accumulate_dtype(q.dtype()), q.device());
}

void check(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule) {
  require<ShapeError>(q.rank() == 4 && q.numel() > 0, kWhere,
                      "expected q of shape [B, H, T, K], none of them 0, got ", q.shape());
  require<DTypeError>(is_float(q.dtype()), kWhere, "expected q in a floating type, got ",
                      q.dtype());
  require<ShapeError>(
      k.rank() == 4 && k.dim(2) >= q.dim(2) && k.shape() == q.shape().with(2, k.dim(2)), kWhere,
      "expected k of shape [B, H, S, K] with S >= T for q ", q.shape(), ", got ", k.shape());
  require<ShapeError>(v.shape() == k.shape(), kWhere, "expected v of the shape of k, ", k.shape(),
                      ", got ", v.shape());
  check_same_kind("k", k, q.dtype(), q.device());
  check_same_kind("v", v, q.dtype(), q.device());
  check_table("bias", rule.bias, {q.dim(1), k.dim(2)}, q);
  check_table("weight", rule.weight, {q.dim(1), k.dim(2)}, q);
  check_table("row_scale", rule.row_scale, {q.dim(2)}, q);
  require<ConfigError>(rule.window >= 0, kWhere, "expected a window of 0 (none) or more, got ",
                       rule.window);
  require<ConfigError>(rule.sinks >= 0, kWhere, "expected 0 or more sinks, got ", rule.sinks);
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule) {
  check(q, k, v, rule);
  const int64_t n_batch = q.dim(0), n_head = q.dim(1), n_query = q.dim(2), head_dim = q.dim(3);
  Tensor out = Tensor::empty({n_batch, n_query, n_head, head_dim}, q.dtype(), q.device());
  Tensor lse = Tensor::empty({n_batch, n_head, n_query}, accumulate_dtype(q.dtype()), q.device());
  dispatch(q.device(), [&](auto tag) { attention_forward(tag, q, k, v, rule, out, lse); });

  Tensor y = out.view({n_batch, n_query, n_head * head_dim});
  AttentionRule kept = rule;
  kept.bias = rule.bias.detach();
  kept.weight = rule.weight.detach();
  kept.row_scale = rule.row_scale.detach();
  record("attention", y, {q, k, v, rule.bias, rule.weight},
         [q = q.detach(), k = k.detach(), v = v.detach(), kept, out, lse,
          wants_dbias = rule.bias.needs_grad(),
          wants_dweight = rule.weight.needs_grad()](const Tensor& dy) {
           // With P = softmax(score), dP = dout v^T and D = rowsum(dout * out):
           //   dscore = P (dP - D),  dv = P^T dout,  dbias[d] = sum of dscore over the diagonal d,
           //   dweight[d] = the same sum of dscore * c, c = row_scale (q . k) / sqrt(K),
           //   dq = row_scale / sqrt(K) * (dscore weight) k,  dk likewise with q.
           AttentionGrads grads;
           grads.dq = empty_like(q);
           grads.dk = empty_like(k);
           grads.dv = empty_like(v);
           if (wants_dbias) grads.dbias = empty_like(kept.bias);
           if (wants_dweight) grads.dweight = empty_like(kept.weight);
           const Tensor dout = dy.view(out.shape());
           dispatch(q.device(), [&](auto tag) {
             attention_backward(tag, q, k, v, kept, out, lse, dout, grads);
           });
           return Grads{grads.dq, grads.dk, grads.dv, grads.dbias, grads.dweight};
         });
  return y;
}

}  // namespace farfield
