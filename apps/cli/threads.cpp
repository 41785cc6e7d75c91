#include "apps/cli/threads.h"

#include "engine/base/parallel.h"

namespace farfield::cli {

void use_threads(std::optional<int64_t> asked, std::ostream& notes) {
  const int64_t n = asked.value_or(thread_count());
  const int64_t most = n_allowed_processor();
  if (n <= most || n > kMostThreads) {
    set_thread_count(n);
    return;
  }
  set_thread_count(most);
  notes << "note: " << n << " threads on " << most << (most == 1 ? " processor" : " processors")
        << ": " << most << (most == 1 ? " is" : " are") << " used, as more would only take turns"
        << std::endl;
}

}  // namespace farfield::cli
