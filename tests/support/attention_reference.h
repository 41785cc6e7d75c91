#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "engine/kernels/attention.h"

namespace farfield::test {

/// What attention() and its gradients must be, in float64 and by plain loops.
struct AttentionReference {
  std::vector<double> out, dq, dk, dv, dbias, dweight;
};

/// The formula of engine/ops/attention.h and its derivative for one dout [B, T, H * K].
inline AttentionReference attention_reference(const Tensor& q_in, const Tensor& k_in,
                                              const Tensor& v_in, const AttentionRule& rule,
                                              const Tensor& dout_in) {
  const int64_t n_batch = q_in.dim(0), n_head = q_in.dim(1), n_query = q_in.dim(2);
  const int64_t n_key = k_in.dim(2), head_dim = q_in.dim(3);
  const auto values = [](const Tensor& x) {
    return x.defined() ? x.to_vector() : std::vector<double>();
  };
  const auto q = values(q_in), k = values(k_in), v = values(v_in), dout = values(dout_in);
  const auto bias = values(rule.bias), weight = values(rule.weight),
             lambda = values(rule.row_scale);
  AttentionReference r{std::vector<double>(q.size()),
                       std::vector<double>(q.size()),
                       std::vector<double>(k.size()),
                       std::vector<double>(k.size()),
                       std::vector<double>(static_cast<size_t>(n_head * n_key)),
                       std::vector<double>(static_cast<size_t>(n_head * n_key))};
  const double infinity = std::numeric_limits<double>::infinity();

  for (int64_t b = 0; b < n_batch; ++b)
    for (int64_t h = 0; h < n_head; ++h)
      for (int64_t i = 0; i < n_query; ++i) {
        const int64_t m = n_key - n_query + i;
        const auto q_at = static_cast<size_t>(((b * n_head + h) * n_query + i) * head_dim);
        const auto k_at = [&](int64_t n) {
          return static_cast<size_t>(((b * n_head + h) * n_key + n) * head_dim);
        };
        const auto out_at = static_cast<size_t>(((b * n_query + i) * n_head + h) * head_dim);
        const auto table_at = [&](int64_t n) { return static_cast<size_t>(h * n_key + m - n); };
        const auto dot = [&](const std::vector<double>& x, size_t x_at,
                             const std::vector<double>& y, size_t y_at) {
          double sum = 0;
          for (size_t c = 0; c < static_cast<size_t>(head_dim); ++c)
            sum += x[x_at + c] * y[y_at + c];
          return sum;
        };
        const double factor = (lambda.empty() ? 1 : lambda[static_cast<size_t>(i)]) /
                              std::sqrt(static_cast<double>(head_dim));
        std::vector<double> p(static_cast<size_t>(m + 1), -infinity), content(p.size());
        double largest = -infinity, total = 0, mean = 0;
        for (int64_t n = 0; n <= m; ++n) {
          const auto j = static_cast<size_t>(n);
          content[j] = factor * dot(q, q_at, k, k_at(n));
          if (rule.window > 0 && m - n >= rule.window && n >= rule.sinks) continue;
          p[j] = content[j] * (weight.empty() ? 1 : weight[table_at(n)]) +
                 (bias.empty() ? 0 : bias[table_at(n)]);
          largest = std::max(largest, p[j]);
        }
        if (largest == -infinity) continue;
        for (double& x : p) total += x = std::exp(x - largest);
        for (int64_t n = 0; n <= m; ++n) {
          const double x = p[static_cast<size_t>(n)] /= total;
          mean += x * dot(dout, out_at, v, k_at(n));
          for (size_t c = 0; c < static_cast<size_t>(head_dim); ++c) {
            r.out[out_at + c] += x * v[k_at(n) + c];
            r.dv[k_at(n) + c] += x * dout[out_at + c];
          }
        }
        for (int64_t n = 0; n <= m; ++n) {
          const auto j = static_cast<size_t>(n);
          const double ds = p[j] * (dot(dout, out_at, v, k_at(n)) - mean);
          const double dc = ds * factor * (weight.empty() ? 1 : weight[table_at(n)]);
          r.dbias[table_at(n)] += ds;
          r.dweight[table_at(n)] += ds * content[j];
          for (size_t c = 0; c < static_cast<size_t>(head_dim); ++c) {
            r.dq[q_at + c] += dc * k[k_at(n) + c];
            r.dk[k_at(n) + c] += dc * q[q_at + c];
          }
        }
      }
  return r;
}

}  // namespace farfield::test
