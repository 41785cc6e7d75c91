#include "engine/distributed/group.h"

#include "engine/base/error.h"

namespace farfield {
namespace {

bool is_on_host(const Tensor& x) { return x.device().kind == Device::Kind::cpu; }

template <class T>
std::span<T> elements_of(Tensor& x) {
  return {x.data<T>(), static_cast<size_t>(x.numel())};
}

}  // namespace

// Copies of a group share it; it ends before the communicator that it uses.
struct Group::OnDevice {
  std::shared_ptr<comm::Communicator> communicator;
  Device device;
  std::unique_ptr<DeviceGroup> group;
};

Group::Group(std::shared_ptr<comm::Communicator> communicator)
    : communicator_(std::move(communicator)),
      on_device_(std::make_shared<OnDevice>(OnDevice{communicator_, {}, nullptr})) {}

DeviceGroup& Group::on(const Device& device) const {
  OnDevice& mine = *on_device_;
  if (mine.group == nullptr) {
    mine.group = make_device_group(*communicator_, device);
    mine.device = device;
  }
  require<DeviceError>(mine.device == device, "processes", "expected tensors on ", mine.device,
                       ", as before, got one on ", device);
  return *mine.group;
}

void Group::sum(Tensor x) const {
  if (is_alone()) return;
  if (!is_on_host(x)) {
    on(x.device()).sum(x);
    finish(x.device());
  } else if (x.dtype() == DType::f64) {
    communicator_->sum(elements_of<double>(x));
  } else {
    communicator_->sum(elements_of<float>(x));
  }
}

void Group::reduce_scatter(Tensor flat, int64_t unit) const {
  begin_reduce_scatter(flat, unit);
  finish(flat.device());
}

void Group::begin_reduce_scatter(Tensor flat, int64_t unit) const {
  if (is_alone()) return;
  if (is_on_host(flat))
    communicator_->reduce_scatter(elements_of<float>(flat), unit);
  else
    on(flat.device()).reduce_scatter(flat, unit);
}

void Group::finish(const Device& device) const {
  if (!is_alone() && device.kind != Device::Kind::cpu) on(device).join();
}

void Group::all_gather(Tensor flat, int64_t unit) const {
  if (is_alone()) return;
  if (is_on_host(flat)) {
    communicator_->all_gather(elements_of<float>(flat), unit);
  } else {
    on(flat.device()).all_gather(flat, unit);
    finish(flat.device());
  }
}

}  // namespace farfield
