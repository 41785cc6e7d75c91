#include "engine/distributed/gather.h"

#include <cstring>

#include "engine/base/error.h"

namespace farfield {
namespace {

constexpr std::string_view kWhere = "shard";

// Calls f for each run of bytes that the elements of a shard are in the whole tensor.
template <class F>
void for_each_run(const Tensor& whole, const Shard& shard, const F& f) {
  const Shape& shape = whole.shape();
  const auto row =
      static_cast<size_t>(shape.product(shard.dim + 1, shape.rank()) * size_of(whole.dtype()));
  const auto n_own = static_cast<size_t>(shard.end - shard.begin) * row,
             n_whole = static_cast<size_t>(shard.n_whole) * row,
             offset = static_cast<size_t>(shard.begin) * row;
  const int64_t n = n_own == 0 ? 0 : shape.product(0, shard.dim);  // an empty one has no address
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) f(i * n_whole + offset, i * n_own, n_own);
}

const std::byte* bytes(const Tensor& x) { return static_cast<const std::byte*>(x.raw_data()); }
std::byte* bytes(Tensor& x) { return static_cast<std::byte*>(x.raw_data()); }

void put(const Tensor& own, const Shard& shard, Tensor& whole) {
  for_each_run(whole, shard, [&](size_t in_whole, size_t in_own, size_t n) {
    std::memcpy(bytes(whole) + in_whole, bytes(own) + in_own, n);
  });
}

// Shards by the names of parameters.
class Shards {
 public:
  explicit Shards(const std::vector<Parameter>& parameters) {
    for (const Parameter& p : parameters) by_name_.emplace(p.name, p.shard);
  }
  Shard of(const std::string& name) const {
    for (const std::string& parameter : {name, name.substr(0, name.rfind('.'))})
      if (const auto found = by_name_.find(parameter); found != by_name_.end())
        return found->second;
    return {};
  }

 private:
  std::map<std::string, Shard> by_name_;
};

}  // namespace

Tensor gather_whole(const Tensor& own, const Shard& shard, const Group& group) {
  const Tensor host = own.detach().to(Device{});
  if (shard.is_whole() || group.is_alone()) return group.is_first() ? host : Tensor();
  comm::Communicator& processes = group.communicator();
  if (!group.is_first()) {
    const int64_t range[2] = {shard.begin, shard.end};
    processes.send(std::as_bytes(std::span(range)), 0);
    processes.send({bytes(host), static_cast<size_t>(host.size_bytes())}, 0);
    return {};
  }
  Tensor whole = Tensor::empty(shard.whole_of(own.shape()), own.dtype());
  put(host, shard, whole);
  int64_t end = shard.end;
  for (int rank = 1; rank < group.size(); ++rank) {
    int64_t range[2] = {};
    processes.receive(std::as_writable_bytes(std::span(range)), rank);
    require<ShapeError>(range[0] == end && range[1] >= end && range[1] <= shard.n_whole, kWhere,
                        "expected process ", rank, " to go on at ", end, " of ", shard.n_whole,
                        ", got ", range[0], " to ", range[1]);
    end = range[1];
    const Shard theirs{shard.dim, range[0], range[1], shard.n_whole};
    Tensor part = Tensor::empty(theirs.own_of(whole.shape()), own.dtype());
    processes.receive({bytes(part), static_cast<size_t>(part.size_bytes())}, rank);
    put(part, theirs, whole);
  }
  require<ShapeError>(end == shard.n_whole, kWhere, "expected shards of all ", shard.n_whole,
                      ", got ", end);
  return whole;
}

Tensor own_shard(const Tensor& whole, const Shard& shard) {
  if (shard.is_whole()) return whole;
  require<ShapeError>(shard.dim < whole.rank() && whole.dim(shard.dim) == shard.n_whole, kWhere,
                      "expected ", shard.n_whole, " elements along dimension ", shard.dim, ", got ",
                      whole.shape());
  const Tensor host = whole.detach().to(Device{});
  Tensor own = Tensor::empty(shard.own_of(whole.shape()), whole.dtype());
  for_each_run(host, shard, [&](size_t in_whole, size_t in_own, size_t n) {
    std::memcpy(bytes(own) + in_own, bytes(host) + in_whole, n);
  });
  return own.to(whole.device());
}

std::vector<std::pair<std::string, Tensor>> gather_whole(
    const std::vector<std::pair<std::string, Tensor>>& own,
    const std::vector<Parameter>& parameters, const Group& group) {
  if (group.is_alone()) return own;
  const Shards shards(parameters);
  std::vector<std::pair<std::string, Tensor>> whole;
  for (const auto& [name, x] : own) {
    const Tensor all = gather_whole(x, shards.of(name), group);
    if (group.is_first()) whole.emplace_back(name, all);
  }
  return whole;
}

std::map<std::string, Tensor> own_shards(const std::map<std::string, Tensor>& whole,
                                         const std::vector<Parameter>& parameters) {
  const Shards shards(parameters);
  std::map<std::string, Tensor> own;
  for (const auto& [name, x] : whole) own.emplace(name, own_shard(x, shards.of(name)));
  return own;
}

}  // namespace farfield
