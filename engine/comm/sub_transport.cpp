#include "engine/comm/sub_transport.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::comm {
namespace {

int place_of(int rank, int size, const std::vector<int>& ranks) {
  const auto own = std::find(ranks.begin(), ranks.end(), rank);
  const bool fit = std::all_of(ranks.begin(), ranks.end(),
                               [size](int other) { return other >= 0 && other < size; }) &&
                   std::set<int>(ranks.begin(), ranks.end()).size() == ranks.size();
  require<ConfigError>(fit && own != ranks.end(), "processes",
                       "expected a group of different ranks below ", size, " with ", rank,
                       " among them, got ", joined(ranks));
  return static_cast<int>(own - ranks.begin());
}

}  // namespace

SubTransport::SubTransport(std::shared_ptr<Transport> parent, const std::vector<int>& ranks)
    : Transport(place_of(parent->rank(), parent->size(), ranks), static_cast<int>(ranks.size())),
      parent_(std::move(parent)),
      ranks_(ranks) {}

void SubTransport::exchange(const Outgoing& out, const Incoming& in) {
  parent_->exchange({parent_rank(out.to), out.bytes}, {parent_rank(in.from), in.bytes});
}

}  // namespace farfield::comm
