#pragma once

#include <filesystem>
#include <memory>

#include "data/formats/writer.h"

namespace farfield::data {

// One for each format, made by make_writer(). Writers of folders replace an existing folder on
// request.

std::unique_ptr<DocumentWriter> make_farfield_writer(const std::filesystem::path& folder,
                                                     TokenizerPtr tokenizer, bool force);
/// Ids are u16 where the vocabulary has fewer than 65500 entries, else i32, as GPT-NeoX and
/// Megatron choose.
std::unique_ptr<DocumentWriter> make_megatron_writer(const std::filesystem::path& prefix,
                                                     TokenizerPtr tokenizer);
/// train.bin, val.bin and test.bin, of u16.
std::unique_ptr<DocumentWriter> make_nanogpt_writer(const std::filesystem::path& folder,
                                                    TokenizerPtr tokenizer, bool force);
/// Shards of `shard_tokens` at most; u16 where all ids of the vocabulary fit, else u32.
std::unique_ptr<DocumentWriter> make_llmc_writer(const std::filesystem::path& folder,
                                                 TokenizerPtr tokenizer, bool force,
                                                 int64_t shard_tokens = 100'000'000);

}  // namespace farfield::data
