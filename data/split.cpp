#include "data/split.h"

#include "engine/base/error.h"

namespace farfield::data {

std::string verify(const Split& split, const Tokens::Watch& watch) {
  std::string hash = split.tokens.hash(watch);
  require<IoError>(split.hash.empty() || hash == split.hash, "tokens",
                   split.tokens.size() > 0 ? split.tokens.place(0).file : "",
                   ": the tokens do not have the hash that is recorded of them (", split.hash,
                   "), but ", hash, "; the file is damaged, make it again with prepare");
  return hash;
}

}  // namespace farfield::data
