#pragma once

#include <vector>

#include "posenc/angles.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {

/// The arguments of every rotation, after its own arguments.
std::vector<ArgumentSpec> rotary_arguments(std::vector<ArgumentSpec> own,
                                           std::vector<std::string> layouts = {"half",
                                                                               "interleaved"});
/// The arguments of the first rotation of an expression.
TrainedRotation trained_rotation(const std::vector<ParsedTerm>& terms);

/// The same, for encodings of class P2, which change what a model trained with rope sees.
std::vector<ArgumentSpec> two_branch_arguments(std::vector<ArgumentSpec> own);

/// The common part of all rotations of q and k: the components that turn, their pairing, and the
/// tables made of frequencies. r below is the number of components that turn.
class Rotary {
 public:
  /// Reads base, layout, rotary_pct and angle_dtype. ConfigError unless r = floor(head_dim
  /// rotary_pct) is even and at least 2.
  Rotary(const Arguments& a, const Config& c);

  int64_t dims() const { return dims_; }  ///< r
  double base() const { return base_; }
  /// The base that divides the slowest of r/2 frequencies by alpha and leaves the fastest alone:
  /// base alpha^(r / (r - 2)), for r >= 4.
  double ntk_base(double alpha) const;
  /// ConfigError, as of `a`, unless r >= 4.
  void require_ntk(const Arguments& a) const;
  /// base^(-2 i / r), i = 0 .. r/2 - 1: r, not head_dim, is in the exponent.
  std::vector<double> inv_freq() const { return geometric_frequencies(dims_, base_); }

  /// Query m of p turns by id[m] inv_freq[i]; cos and sin are multiplied by factor.
  Rotation rotation(const Positions& p, std::vector<double> inv_freq, double factor = 1) const;
  /// With the frequencies of inv_freq().
  Rotation rotation(const Positions& p) const { return rotation(p, inv_freq()); }
  /// The angles that far pairs take: a query with position id turns by to_q(id) inv_freq[i], a key
  /// by to_k(id) inv_freq[i].
  template <class F, class G>
  Rotation::Far far(const Positions& p, const F& to_q, const G& to_k) const {
    std::vector<double> q, k;
    for (const double id : p.query_ids()) {
      q.push_back(to_q(id));
      k.push_back(to_k(id));
    }
    return far(p, q, k);
  }

 private:
  Rotation::Far far(const Positions& p, const std::vector<double>& ids_q,
                    const std::vector<double>& ids_k) const;

  int64_t dims_;
  double base_;
  bool interleaved_, emulate_bf16_;
};

/// Rope whose distances end at a limit, for rotations and tables: far queries turn by the limit,
/// their keys not at all.
class CappedRotary {
 public:
  CappedRotary(const Arguments& a, const Config& c, int64_t limit)
      : rotary_(a, c), limit_(limit), acts_(a) {}

  bool acts(const Positions& p) const { return acts_(p); }
  int64_t limit() const { return limit_; }
  Positions positions(const Positions& plain) const;
  Rotation rotation(const Positions& p) const;

 private:
  Rotary rotary_;
  int64_t limit_;  // tokens
  ActiveAt acts_;
};

}  // namespace farfield::posenc
