#include "engine/ops/attention.h"

#include <vector>

#include "engine/autograd.h"
#include "engine/kernels.h"
#include "engine/ops/attention_check.h"

namespace farfield {
namespace {

AttentionRows rows_for(const Heads& heads, const Normalizer& normalizer) {
  const auto row_values = [&](bool needed) {
    const Tensor& q = heads.q;
    return needed ? Tensor::empty({q.dim(0), q.dim(1), q.dim(2)}, accumulate_dtype(q.dtype()),
                                  q.device())
                  : Tensor();
  };
  return {.lse = row_values(!normalizer.is_relu()),
          .threshold = row_values(normalizer.is_clamped()),
          .sum = row_values(normalizer.is_relu() && normalizer.penalty != 0)};
}

// What has a gradient: the heads, then the tables.
constexpr size_t kHeadTensors = 5;
std::vector<Tensor> inputs_of(const Heads& heads, const AttentionRule& rule) {
  const RowBias& row = rule.row_bias;
  return {heads.q,     heads.k,     heads.v,        heads.far.q, heads.far.k, rule.bias,
          rule.weight, row.feature, row.row_factor, row.slope,   row.offset};
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule,
                 const FarHeads& far) {
  const Heads heads{q, k, v, far};
  check_attention(heads, rule);
  const int64_t n_batch = q.dim(0), n_head = q.dim(1), n_query = q.dim(2), head_dim = q.dim(3);
  Tensor out = Tensor::empty({n_batch, n_query, n_head, head_dim}, q.dtype(), q.device());
  AttentionRows rows = rows_for(heads, rule.normalizer);
  dispatch(q.device(), [&](auto tag) { attention_forward(tag, heads, rule, out, rows); });

  Tensor y = out.view({n_batch, n_query, n_head * head_dim});
  const std::vector<Tensor> inputs = inputs_of(heads, rule);
  std::vector<bool> wants;  // the tables' gradients are left out when nobody wants them
  for (const Tensor& x : inputs) wants.push_back(wants.size() < kHeadTensors || x.needs_grad());
  const Heads kept{q.detach(), k.detach(), v.detach(), {far.q.detach(), far.k.detach()}};
  AttentionRule kept_rule = rule;
  for_each_table(kept_rule, [](Tensor& table) { table = table.detach(); });
  record("attention", y, inputs, [kept, kept_rule, out, rows, wants](const Tensor& dy) {
    // With P = softmax(score), dP = dout v^T and D = rowsum(dout * out):
    //   dscore = P (dP - D),  dv = P^T dout,
    // or for relu, with its divisor N, where the score is positive and 0 elsewhere
    //   dscore = (dP + 2 penalty / rows (sum of P - 1)) / N;  from either
    //   dbias[e] = sum of dscore over the pairs that read entry e (of d: a diagonal),
    //   dweight[e] = the same sum of dscore * c, c = row_scale (q . k) / sqrt(K),
    //   dq = row_scale / sqrt(K) * (dscore weight) k,  dk likewise with q; far pairs give theirs to
    //   far.q and far.k, from these.
    // Row bias slope_s x + offset_s, x = feature[d] row_factor[i], s the segment of x:
    //   dslope[s] = sum of dscore x over its pairs,  doffset[s] = the same sum of dscore,
    //   dx = dscore slope_s, and from it dfeature by diagonals, drow_factor by rows.
    const std::vector<Tensor> from = inputs_of(kept, kept_rule);
    Grads d(from.size());
    for (size_t i = 0; i < d.size(); ++i)
      if (from[i].defined() && wants[i]) d[i] = empty_like(from[i]);
    AttentionGrads grads{
        {d[0], d[1], d[2], {d[3], d[4]}}, d[5], d[6], {d[7], d[8], {}, d[9], d[10]}};
    const Tensor dout = dy.view(out.shape());
    dispatch(dy.device(),
             [&](auto tag) { attention_backward(tag, kept, kept_rule, out, rows, dout, grads); });
    return d;
  });
  return y;
}

}  // namespace farfield
