#pragma once

#include "engine/attention_rule.h"
#include "engine/kernels/dropout.h"

namespace farfield {

/// Which pairs of a call stay: AttentionDropout with its sizes, for both devices. A "head" is one
/// of B * H of the call.
class AttentionMask {
 public:
  AttentionMask(const AttentionDropout& dropout, int64_t n_head, int64_t n_query, int64_t n_key)
      : n_head_(n_head),
        n_left_out_(dropout.n_head == 0 ? 0 : dropout.n_head - n_head),
        n_query_(n_query),
        n_group_((n_key + DropoutMask::kGroup - 1) / DropoutMask::kGroup),
        mask_{dropout.random,
              DropoutMask::dropped_of(dropout.p),
              static_cast<uint64_t>(dropout.first_head * n_query_ * n_group_),
              0,
              0,
              dropout.stream.defined() ? dropout.stream.data<int32_t>() : nullptr},
        scale_(mask_.scale()) {}

  FARFIELD_HD bool is_on() const { return mask_.n_dropped > 0; }
  /// The factor of the P that stay.
  FARFIELD_HD double scale() const { return scale_; }
  /// The group of the mask for keys [group * kGroup, group * kGroup + kGroup) of a query; the group
  /// of the next query is n_group() further on.
  FARFIELD_HD int64_t group_at(int64_t head, int64_t query, int64_t group) const {
    if (n_left_out_ > 0) head += head / n_head_ * n_left_out_;
    return (head * n_query_ + query) * n_group_ + group;
  }
  FARFIELD_HD int64_t n_group() const { return n_group_; }
  /// The bits of a group.
  FARFIELD_HD PhiloxBlock bits(int64_t group_at) const { return mask_.bits(group_at); }
  FARFIELD_HD PhiloxBlock bits(int64_t head, int64_t query, int64_t group) const {
    return bits(group_at(head, query, group));
  }
  FARFIELD_HD bool keeps(const PhiloxBlock& bits, int64_t key) const {
    return mask_.keeps(bits, static_cast<int>(key % DropoutMask::kGroup));
  }
  FARFIELD_HD bool keeps(int64_t head, int64_t query, int64_t key) const {
    return keeps(bits(head, query, key / DropoutMask::kGroup), key);
  }

 private:
  int64_t n_head_, n_left_out_;  // heads of a sequence: in this call, and in other calls
  int64_t n_query_, n_group_;
  DropoutMask mask_;
  double scale_;
};

}  // namespace farfield
