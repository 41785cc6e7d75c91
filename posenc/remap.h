#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/random.h"
#include "posenc/encoding.h"

// The common part of all remaps of positions: the maps, for given random draws, and the draws.

namespace farfield::posenc {

/// Every position and every distance divided by one number; by 1, nothing changes.
Positions divided(Positions p, double scale);
/// Every position moved by `offset`; distances stay.
Positions moved(Positions p, double offset);

/// p[m] = (m + global + local[m]) scale, with the mean (n - 1)/2 of m taken off first when
/// normalized.
std::vector<double> cape_ids(std::span<const double> local, double global, double scale,
                             bool normalized);
/// p[m] = m + the sum of extra[b] over the blocks b that end before m: floor(m / block) of them.
std::vector<double> jump_ids(int64_t n, int64_t block, std::span<const int64_t> extra);

/// Lets tables be looked up at ids[m] - ids[n], for whole ids that do not fall. ConfigError naming
/// `who` when a table would have more than 2^24 entries.
Positions looked_up_by_ids(Positions p, std::string_view who);

/// Positions of which row b is row_of(number of the sequence in its batch), for each sequence of
/// the draw.
template <class F>
Positions with_row_per_sequence(Positions p, const F& row_of) {
  p.ids.clear();
  for (int64_t sequence = 0; sequence < p.draw.n_sequence; ++sequence) {
    const std::vector<double> row = row_of(p.draw.first + sequence);
    p.ids.insert(p.ids.end(), row.begin(), row.end());
  }
  return p;
}

/// The numbers that the term at `path` draws for `what`: a pure function of its arguments; number i
/// of the stream belongs to position i.
Random draws_of(uint64_t seed, std::string_view path, std::string_view what, const Draw& draw,
                int64_t sequence = 0);

/// n distinct integers of 0 .. limit - 1, ascending, n <= limit: each such set is equally likely.
/// O(n log n) time, O(n) memory.
/// Source    Bentley and Floyd 1987, "Programming pearls: a sample of brilliance", CACM 30(9)
std::vector<int64_t> sorted_sample(const Random& random, int64_t n, int64_t limit);

}  // namespace farfield::posenc
