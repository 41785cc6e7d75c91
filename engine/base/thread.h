#pragma once

#include <functional>
#include <thread>

namespace farfield {

/// A thread that runs f; signals are for others. Throws BackendError where the system gives none.
std::thread start_thread(std::function<void()> f);

}  // namespace farfield
