#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "tests/support/cuda/runtime.h"

struct CUgraph_st {
  std::vector<std::function<void()>> nodes;
  std::atomic<bool> is_invalid = false;  ///< the stream got a request that a capture cannot take
};

/// A stream, whose work is done when a call returns unless it is captured.
struct CUstream_st {
  std::shared_ptr<CUgraph_st> capture;  ///< the work since the capture began; or null
};
