#pragma once

#include <cstdint>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/parameter.h"

namespace farfield {

/// The elements of a list of parameters behind one another, as one array cut into buckets:
/// processes sum and share ranges of this array. The layout depends on the sizes alone.
class FlatLayout {
 public:
  explicit FlatLayout(const std::vector<Parameter>& parameters);

  int64_t numel() const { return begins_.back(); }
  /// The range of parameter i.
  comm::Range parameter(size_t i) const { return {begins_[i], begins_[i + 1]}; }
  size_t n_parameter() const { return begins_.size() - 1; }

  int64_t n_bucket() const { return (numel() + bucket_ - 1) / bucket_; }
  comm::Range bucket(int64_t k) const;
  /// The buckets that parameter i has elements in, k.begin to k.end - 1.
  comm::Range buckets_of(size_t i) const;
  /// Elements of a bucket of n elements in all.
  static int64_t bucket_of(int64_t n);
  /// Buckets, and parts of them, begin at multiples of it.
  static int64_t unit();

  /// The parameters' segments within a range, in order: elements `begin` to `end` - 1 of a
  /// parameter, at `at` in the array.
  struct Segment {
    size_t parameter;
    int64_t begin, end, at;
  };
  std::vector<Segment> segments(const comm::Range& range) const;

 private:
  std::vector<int64_t> begins_{0};
  int64_t bucket_ = 1;
};

}  // namespace farfield
