#include "apps/run/weights.h"

#include <set>

#include "engine/base/error.h"
#include "engine/distributed/gather.h"

namespace farfield::run {

void load_weights(std::vector<Parameter>& parameters,
                  const std::map<std::string, Tensor>& tensors) {
  constexpr std::string_view kWhere = "checkpoint";
  std::set<std::string> known;
  for (const Parameter& p : parameters) {
    known.insert(p.name);
    const auto found = tensors.find(p.name);
    require<IoError>(found != tensors.end(), kWhere, "expected a tensor '", p.name,
                     "', got none of that name");
    const Tensor& from = found->second;
    const Shape whole = p.shard.whole_of(p.value.shape());
    require<IoError>(from.shape() == whole && from.dtype() == p.value.dtype(), kWhere, "'", p.name,
                     "': expected ", p.value.dtype(), ' ', whole, ", got ", from.dtype(), ' ',
                     from.shape());
  }
  for (const auto& item : tensors)
    require<IoError>(known.count(item.first) > 0, kWhere,
                     "expected tensors of this model alone, got '", item.first, "'");
  for (Parameter& p : parameters) p.value.assign(own_shard(tensors.at(p.name), p.shard));
}

}  // namespace farfield::run
