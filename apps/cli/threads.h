#pragma once

#include <cstdint>
#include <optional>
#include <ostream>

namespace farfield::cli {

/// Sets thread_count() to what --threads says, or leaves it as FARFIELD_THREADS or the number of
/// processors has it. There are never more than processors that this process may run on, since they
/// would only take turns: `notes` is then told of it. ConfigError as set_thread_count().
void use_threads(std::optional<int64_t> asked, std::ostream& notes);

}  // namespace farfield::cli
