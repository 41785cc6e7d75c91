#include "engine/distributed/group.h"

#include "engine/base/error.h"

namespace farfield {
namespace {

constexpr std::string_view kWhere = "processes";

template <class T>
std::span<T> elements_of(Tensor& x) {
  require<DeviceError>(x.device().kind == Device::Kind::cpu, kWhere,
                       "expected a tensor on the CPU, got one on ", x.device());
  return {x.data<T>(), static_cast<size_t>(x.numel())};
}

}  // namespace

Group::Group(std::shared_ptr<comm::Communicator> communicator)
    : communicator_(std::move(communicator)) {}

void Group::sum(Tensor x) const {
  if (is_alone()) return;
  if (x.dtype() == DType::f64)
    communicator_->sum(elements_of<double>(x));
  else
    communicator_->sum(elements_of<float>(x));
}

void Group::reduce_scatter(Tensor flat, int64_t unit) const {
  if (!is_alone()) communicator_->reduce_scatter(elements_of<float>(flat), unit);
}

void Group::all_gather(Tensor flat, int64_t unit) const {
  if (!is_alone()) communicator_->all_gather(elements_of<float>(flat), unit);
}

}  // namespace farfield
