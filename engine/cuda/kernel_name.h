#pragma once

#include <string>

namespace farfield {

/// The name of a kernel as it stands in the source, for messages.
std::string kernel_name(const void* kernel);

}  // namespace farfield
