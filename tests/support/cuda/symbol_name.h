#pragma once

#include <string>

namespace farfield::emulation {

/// The mangled name of the function at this address, from the symbol table of the file that holds
/// it; "" when that was stripped. Slow, for messages.
std::string symbol_name(const void* function);

}  // namespace farfield::emulation
