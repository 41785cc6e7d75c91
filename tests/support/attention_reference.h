#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/attention_rule.h"
#include "engine/heads.h"

namespace farfield::test {

/// Values by name: "out", and "d" and the name of an input for its gradient (attention_problem.h).
using NamedValues = std::map<std::string, std::vector<double>>;

/// The reference of attention() and its gradients: the formula of engine/ops/attention.h and its
/// derivative for one dout [B, T, H * K], in float64 and by plain loops.
class AttentionReference {
 public:
  AttentionReference(const Heads& heads, const AttentionRule& rule, const Tensor& dout);

  NamedValues result() const;

 private:
  // An input, and room for its gradient.
  struct Values {
    explicit Values(const Tensor& x)
        : value(x.defined() ? x.to_vector() : std::vector<double>()), grad(value.size()) {}
    bool given() const { return !value.empty(); }
    double operator[](int64_t i) const { return value.at(static_cast<size_t>(i)); }
    double& d(int64_t i) { return grad.at(static_cast<size_t>(i)); }

    std::vector<double> value, grad;
  };

  double dot(const Values& a, int64_t a_at, const Values& b, int64_t b_at) const;
  void add(std::vector<double>& to, int64_t to_at, double by, const Values& from,
           int64_t from_at) const;
  int64_t entry_of(int64_t b, int64_t i, int64_t m, int64_t n, bool is_far) const;
  double kept(int64_t b, int64_t h, int64_t i, int64_t n) const;
  void row(int64_t b, int64_t h, int64_t i);
  // Of Kind::linear: q and k become their features; and the gradients of these those of q and k.
  void take_features();
  void leave_features();

  AttentionRule rule_;
  int64_t n_batch_, n_head_, n_query_, n_key_, head_dim_, n_entry_;
  Values q_, k_, v_, far_q_, far_k_, bias_, weight_, row_scale_, ids_, far_ids_q_, far_ids_k_,
      feature_, row_factor_, knots_, slope_, offset_;
  Values out_;  // its value is dout, its "gradient" out
};

}  // namespace farfield::test
