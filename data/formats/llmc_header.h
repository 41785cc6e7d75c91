#pragma once

#include <array>
#include <cstdint>

namespace farfield::data {

/// The header of a token shard of llm.c: magic, version, number of tokens, then zeros.
using LlmcHeader = std::array<int32_t, 256>;
static_assert(sizeof(LlmcHeader) == 1024);

inline constexpr int32_t kLlmcMagic16 = 20240520, kLlmcVersion16 = 1;  // u16, of GPT-2
inline constexpr int32_t kLlmcMagic32 = 20240801, kLlmcVersion32 = 7;  // u32, of Llama 3

}  // namespace farfield::data
