#include "engine/ops/attention.h"

#include <vector>

#include "engine/autograd.h"
#include "engine/kernels.h"
#include "engine/ops/attention_check.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "engine/ops/split_heads.h"
#include "engine/ops/view.h"

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
          .sum = row_values(normalizer.is_relu() &&
                            (normalizer.divides_by_sum() || normalizer.penalty != 0))};
}

// f(tensor) for each that has a gradient, in the order in which autograd has them.
template <class F>
void for_each_gradient(AttentionGrads& d, const F& f) {
  Heads& heads = d.dheads;
  if (heads.packed.defined())
    f(heads.packed);
  else
    for (Tensor* head : {&heads.q, &heads.k, &heads.v, &heads.far.q, &heads.far.k}) f(*head);
  for (Tensor* table : {&d.dbias, &d.dweight, &d.drow_bias.feature, &d.drow_bias.row_factor,
                        &d.drow_bias.slope, &d.drow_bias.offset})
    f(*table);
}

std::vector<Tensor> listed(AttentionGrads d) {
  std::vector<Tensor> all;
  for_each_gradient(d, [&](const Tensor& x) { all.push_back(x); });
  return all;
}

Heads detached(const Heads& heads) {
  Rotation turned_by = heads.turned_by;
  for_each_angle(turned_by, [](Tensor& table) { table = table.detach(); });
  return {.q = heads.q.detach(),
          .k = heads.k.detach(),
          .v = heads.v.detach(),
          .far = {heads.far.q.detach(), heads.far.k.detach()},
          .packed = heads.packed.detach(),
          .turned_by = turned_by};
}

bool has_features(const AttentionRule& rule) {
  return rule.normalizer.kind == Normalizer::Kind::linear;
}
bool has_landmarks(const AttentionRule& rule) {
  return rule.normalizer.kind == Normalizer::Kind::landmark;
}

// An empty gradient of the keys x [B, G, S, K] for each of n_head heads, [B, n_head, S, K].
Tensor empty_for_heads(const Tensor& x, int64_t n_head) {
  return Tensor::empty(x.shape().with(1, n_head), x.dtype(), x.device());
}
// The sum of x [B, H, S, K] over the heads of each of n_group groups: [B, n_group, S, K].
Tensor sum_of_groups(const Tensor& x, int64_t n_group) {
  const Shape& s = x.shape();
  return sum(x.view({s[0], n_group, s[1] / n_group, s[2], s[3]}), 2);
}

// Keys and values copied out of their room.
Heads without_room(const Heads& heads) {
  Heads all = heads;
  for (Tensor* x : {&all.k, &all.v, &all.far.k})
    if (x->defined()) *x = slice(*x, 2, heads.key_rows.begin, heads.key_rows.end);
  all.key_rows = {};
  return all;
}

// `heads` that come from `source`: they themselves, or packed heads before they were turned.
Tensor attention_to(const Heads& heads, const Heads& source, const AttentionRule& rule) {
  check_attention(heads, rule);
  const Tensor& q = heads.q;
  const int64_t n_batch = q.dim(0), n_head = q.dim(1), n_query = q.dim(2), head_dim = q.dim(3);
  Tensor out = Tensor::empty({n_batch, n_query, n_head, head_dim}, q.dtype(), q.device());
  AttentionRows rows = rows_for(heads, rule.normalizer);
  dispatch(q.device(), [&](auto tag) {
    if (has_landmarks(rule))
      landmark_attention_forward(tag, heads, rule, out, rows);
    else
      attention_forward(tag, heads, rule, out, rows);
  });

  Tensor y = out.view({n_batch, n_query, n_head * head_dim});
  const AttentionGrads inputs{source, rule.bias, rule.weight, rule.row_bias, {}};
  const Heads kept = detached(heads);
  AttentionRule kept_rule = rule;
  for_each_table(kept_rule, [](Tensor& table) { table = table.detach(); });
  // The shape of each gradient. Gradients of tables are left out unless wanted.
  const auto wanted = [](const Tensor& table) {
    return table.needs_grad() ? table.detach() : Tensor();
  };
  const RowBias& row = rule.row_bias;
  const AttentionGrads like{kept,
                            wanted(rule.bias),
                            wanted(rule.weight),
                            {.feature = wanted(row.feature),
                             .row_factor = wanted(row.row_factor),
                             .slope = wanted(row.slope),
                             .offset = wanted(row.offset)},
                            {}};
  const bool sums_columns =
      expects_column_sums(source.packed) &&
      dispatch(q.device(), [](auto tag) { return sums_columns_of_heads(tag); });
  record("attention", y, listed(inputs),
         [kept, kept_rule, out, rows, like, n_head, sums_columns](const Tensor& dy) {
           // With P = softmax(score), dP = dout v^T and D = rowsum(dout * out):
           //   dscore = P (dP - D),  dv = P^T dout,
           // or for relu, with its divisor N, where the score is positive and 0 elsewhere
           //   dscore = (dP + 2 penalty / rows (sum of P - 1)) / N;
           // linear: dscore = (dP - D) / N there, N the sum of the scores above 0;
           // landmark: kernels/attention_landmark.h;  from any
           //   dbias[e] = sum of dscore over the pairs that read entry e (of d: a diagonal),
           //   dweight[e] = the same sum of dscore * c, c = row_scale (q . k) / sqrt(K),
           //   dq = row_scale / sqrt(K) * (dscore weight) k,  dk likewise with q; far pairs give
           //   theirs to far.q and far.k, from these.
           // Dropout multiplies P by a mask M in out = (M P) v, so dv takes M P instead of P, and
           // dP is M (dout v^T); D stays the sum of P dP. Row bias slope_s x + offset_s, x =
           // feature[d] row_factor[i], s the segment of x:
           //   dslope[s] = sum of dscore x over its pairs,  doffset[s] = the same sum of dscore,
           //   dx = dscore slope_s, and from it dfeature by diagonals, drow_factor by rows.
           AttentionGrads grads = like;
           for_each_gradient(grads, [](Tensor& d) { d = d.defined() ? empty_like(d) : d; });
           const Tensor dqkv = grads.dheads.packed;
           const int64_t n_group = kept.k.dim(1);
           if (dqkv.defined()) grads.dheads = Heads::in(dqkv, n_head);
           const auto for_each_shared = [&](const auto& f) {
             if (n_group == n_head) return;
             for (Tensor* d : {&grads.dheads.k, &grads.dheads.v, &grads.dheads.far.k})
               if (d->defined()) *d = f(*d);
           };
           for_each_shared([&](const Tensor& d) { return empty_for_heads(d, n_head); });
           if (sums_columns)
             grads.column_sums =
                 Tensor::empty({dqkv.dim(2)}, accumulate_dtype(dqkv.dtype()), dqkv.device());
           const Tensor dout = dy.view(out.shape());
           dispatch(dy.device(), [&](auto tag) {
             if (has_landmarks(kept_rule))
               landmark_attention_backward(tag, kept, kept_rule, out, rows, dout, grads);
             else
               attention_backward(tag, kept, kept_rule, out, rows, dout, grads);
           });
           for_each_shared([&](const Tensor& d) { return sum_of_groups(d, n_group); });
           if (sums_columns) dqkv.keep_column_sums(grads.column_sums);
           return listed(grads);
         });
  return y;
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionRule& rule,
                 const FarHeads& far) {
  return attention({.q = q, .k = k, .v = v, .far = far}, rule);
}

Tensor attention(const Heads& given, const AttentionRule& rule) {
  check_attention(given, rule);
  Heads heads = given;
  if (heads.have_room()) {
    const bool in_place =
        dispatch(heads.q.device(), [](auto tag) { return attends_to_keys_with_room(tag); });
    if (!in_place || has_features(rule)) heads = without_room(heads);
  }
  if (has_features(rule))
    for (Tensor* x : {&heads.q, &heads.k, &heads.far.q, &heads.far.k})
      if (x->defined()) *x = elu_plus_one(*x);
  return attention_to(heads, heads, rule);
}

Tensor attention(Tensor qkv, const HeadCounts& counts, const AttentionRule& rule,
                 const Rotation& rotation) {
  check_qkv("attention", qkv, counts);
  require<ShapeError>(qkv.numel() > 0, "attention",
                      "expected qkv of shape [B, T, 3 H K], none of them 0, got ", qkv.shape());
  check_rotation("attention", rotation, qkv, counts);
  const int64_t n_head = counts.n_head;
  const bool takes_packed =
      dispatch(qkv.device(), [&](auto tag) { return attends_to_packed_heads(tag, qkv.dtype()); });
  if (!takes_packed || counts.is_grouped() || rotation.far.cos_q.defined() || has_features(rule) ||
      has_landmarks(rule)) {
    const Heads heads = split_heads(qkv, counts, rotation);
    qkv = {};  // not needed beside its copies
    return attention(heads.q, heads.k, heads.v, rule, heads.far);
  }
  if (!rotation.cos.defined()) {
    const Heads heads = Heads::in(qkv, n_head);
    return attention_to(heads, heads, rule);
  }
  Tensor turned = qkv.is_sole_owner() ? qkv.detach() : qkv.clone();
  dispatch(qkv.device(), [&](auto tag) { turn_heads(tag, n_head, rotation, turned); });
  Heads heads = Heads::in(turned, n_head);
  heads.turned_by = rotation;
  return attention_to(heads, {.packed = qkv}, rule);
}

}  // namespace farfield
