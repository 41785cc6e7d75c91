#include "apps/run/together.h"

#include <exception>
#include <span>

namespace farfield::run {

void in_first(comm::Communicator& processes, const std::function<void()>& work) {
  std::exception_ptr error;
  if (processes.is_first()) {
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (in_any(processes, error != nullptr) && error == nullptr)
    fail<OtherFailed>("processes", "process 0 could not go on, and says why");
  if (error) std::rethrow_exception(error);
}

bool in_any(comm::Communicator& processes, bool here) {
  double n = here ? 1 : 0;
  processes.sum(std::span(&n, 1));
  return n > 0;
}

}  // namespace farfield::run
