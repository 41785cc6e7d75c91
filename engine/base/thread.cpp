#include "engine/base/thread.h"

#include <system_error>
#include <utility>

#include "engine/base/blocked_signals.h"
#include "engine/base/error.h"

namespace farfield {

std::thread start_thread(std::function<void()> f) {
  const BlockedSignals blocked;
  try {
    return std::thread(std::move(f));
  } catch (const std::system_error& error) {
    fail<BackendError>("threads", "expected one more thread, the system gives none (", error.what(),
                       ")");
  }
}

}  // namespace farfield
