#include "data/tokenizer.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/base/hash.h"

namespace farfield::data {

Tokenizer::Tokenizer(std::string name, std::string_view description)
    : name_(std::move(name)), hash_(hash_hex(description)) {}

Tokenizer::Tokenizer(std::string name, File file)
    : name_(std::move(name)), file_(std::move(file.text)), hash_(hash_hex(file_)) {}

void Tokenizer::check_id(int32_t id) const {
  require<IoError>(id >= 0 && id < n_vocab(), "tokenizer", "expected ids from 0 to ", n_vocab() - 1,
                   ", got ", id);
}

int64_t padded_vocab_size(int64_t n_vocab) { return (n_vocab + 63) / 64 * 64; }

}  // namespace farfield::data
