#pragma once

#include "engine/host_device.h"

namespace farfield {

/// The pair (a, b) turned by an angle: its first component. By -sin it is turned back.
template <class A>
FARFIELD_HD A turned_first(A a, A b, A cos, A sin) {
  return a * cos - b * sin;
}
/// Its second component.
template <class A>
FARFIELD_HD A turned_second(A a, A b, A cos, A sin) {
  return a * sin + b * cos;
}

}  // namespace farfield
