// ALiBi: attention with linear biases, score[h, m, n] -= slope[h] (m - n).
// Press, Smith and Lewis 2022, "Train Short, Test Long", arXiv:2108.12409, section 3.

#include "posenc/registry.h"
#include "posenc/slopes.h"

namespace farfield::posenc {

std::unique_ptr<Encoding> make_alibi(const Arguments& a, const Config& c) {
  return fixed_slopes(read_slopes(a, c), a, c);
}

}  // namespace farfield::posenc
