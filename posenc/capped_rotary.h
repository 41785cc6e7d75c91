#pragma once

#include <algorithm>

#include "posenc/active_at.h"
#include "posenc/rotary.h"

namespace farfield::posenc {

/// Rope whose distances end at a limit, for rotations and tables: far queries turn by the limit,
/// their keys not at all.
class CappedRotary {
 public:
  CappedRotary(const Arguments& a, const Config& c, int64_t limit)
      : rotary_(a, c), limit_(limit), acts_(a) {}

  bool acts(const Positions& p) const { return acts_(p); }
  int64_t limit() const { return limit_; }

  Positions positions(const Positions& plain) const {
    Positions p = plain;
    if (acts(p))
      for (double& d : p.distance) d = std::min(d, static_cast<double>(limit_));
    return p;
  }
  Rotation rotation(const Positions& p) const {
    Rotation rotation = rotary_.rotation(p);
    const auto limit = static_cast<double>(limit_);
    if (acts(p) && p.n_key > limit_)
      rotation.far = rotary_.far(
          p, [limit](double) { return limit; }, [](double) { return 0.0; });
    return rotation;
  }

 private:
  Rotary rotary_;
  int64_t limit_;  // tokens
  ActiveAt acts_;
};

}  // namespace farfield::posenc
