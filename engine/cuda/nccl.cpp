// device_group.h by NCCL.

#include <nccl.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "engine/cuda/check.h"
#include "engine/cuda/context.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/stream.h"
#include "engine/dispatch.h"
#include "engine/distributed/device_group.h"
#include "engine/distributed/peer_watch.h"

namespace farfield {
namespace {

// BackendError "[nccl] what: the library's own words" unless all went well.
template <class... Parts>
void nccl_check(ncclResult_t status, const Parts&... what) {
  if (status != ncclSuccess) [[unlikely]]
    fail<BackendError>("nccl", what..., ": ", ncclGetErrorString(status));
}

ncclDataType_t type_of(DType dtype) {
  require<DTypeError>(dtype == DType::f32 || dtype == DType::f64, "nccl",
                      "expected float32 or float64, got ", dtype);
  return dtype == DType::f64 ? ncclFloat64 : ncclFloat32;
}

class NcclGroup final : public DeviceGroup {
 public:
  NcclGroup(comm::Communicator& processes, const Device& device)
      : processes_(processes), device_(device), stream_(stream_on(device)) {
    processes_.wait_for_all();  // the library would wait for ever for a process without a device
    ncclUniqueId id{};
    if (processes_.is_first()) nccl_check(ncclGetUniqueId(&id), "a name for a group");
    processes_.broadcast(std::as_writable_bytes(std::span(id.internal)));
    ncclComm_t group = nullptr;
    nccl_check(ncclCommInitRank(&group, processes_.size(), id, processes_.rank()), "a group of ",
               processes_.size(), " processes, process ", processes_.rank(), " on ", device_,
               " (each needs a device of its own)");
    group_ = group;
    watch_.emplace(
        processes_,
        [this] {
          cuda_tag(device_);  // of the watch's thread too: else it would make a context on cuda:0
          return stream_.is_busy();
        },
        [this] {
          cuda_tag(device_);
          abort();
        });
  }
  // After an error another process may be gone, for which the device would wait for ever.
  ~NcclGroup() override {
    watch_.reset();
    if (std::uncaught_exceptions() > 0)
      abort();
    else if (group_ != nullptr)
      ncclCommDestroy(group_);
  }

  void sum(Tensor& x) override {
    const std::lock_guard lock(mutex_);
    begin();
    void* const data = x.raw_data();
    nccl_check(ncclAllReduce(data, data, static_cast<size_t>(x.numel()), type_of(x.dtype()),
                             ncclSum, group_, stream_.get()),
               "a sum of ", x.numel(), " elements");
    wait_if_asked(stream_.get(), "a sum of ", x.numel(), " elements over processes");
  }

  void reduce_scatter(Tensor& flat, int64_t unit) override {
    for_each_part(flat, unit, [&](float* part, size_t n, int rank) {
      return ncclReduce(part, part, n, ncclFloat32, ncclSum, rank, group_, stream_.get());
    });
  }

  void all_gather(Tensor& flat, int64_t unit) override {
    for_each_part(flat, unit, [&](float* part, size_t n, int rank) {
      return ncclBroadcast(part, part, n, ncclFloat32, rank, group_, stream_.get());
    });
  }

  void join() override {
    const std::lock_guard lock(mutex_);
    watch_->check();
    done_.record(stream_.get());
    cuda_check(cudaStreamWaitEvent(stream_of(cuda_tag(device_)), done_.get(), 0),
               "wait for other processes");
    ncclResult_t status = ncclSuccess;
    nccl_check(ncclCommGetAsyncError(group_, &status), "the state of a group");
    nccl_check(status, "work of a group of ", processes_.size(), " processes");
  }

 private:
  static Stream stream_on(const Device& device) {
    cuda_tag(device);  // makes it the device of this thread
    return {};
  }

  // For a thread that has the lock.
  void begin() {
    watch_->check();
    ready_.record(stream_of(cuda_tag(device_)));
    stream_.wait_for(ready_);
  }

  // Ends the current work of the device, with any result. A call that holds the lock for long waits
  // on the host for a process that has ended, as the library does when it first connects: only this
  // ends it.
  void abort() {
    constexpr std::chrono::seconds kMostOfCall(2);
    std::unique_lock lock(mutex_, std::defer_lock);
    static_cast<void>(lock.try_lock_for(kMostOfCall));
    if (ncclComm_t const group = group_.exchange(nullptr); group != nullptr) ncclCommAbort(group);
  }

  // Parts differ in size and are not in the order of the ranks: one call for each, all of them one
  // launch.
  template <class Call>
  void for_each_part(Tensor& flat, int64_t unit, const Call& call) {
    require<DTypeError>(flat.dtype() == DType::f32, "nccl", "expected float32, got ", flat.dtype());
    const std::lock_guard lock(mutex_);
    begin();
    nccl_check(ncclGroupStart(), "parts of ", flat.numel(), " elements");
    ncclResult_t status = ncclSuccess;
    for (int rank = 0; rank < processes_.size() && status == ncclSuccess; ++rank) {
      const comm::Range range = processes_.part(flat.numel(), rank, unit);
      if (range.size() == 0) continue;
      auto* const data = flat.data<float>();
      status = call(data + range.begin, static_cast<size_t>(range.size()), rank);
    }
    const ncclResult_t end = ncclGroupEnd();
    nccl_check(status == ncclSuccess ? end : status, "parts of ", flat.numel(), " elements");
    wait_if_asked(stream_.get(), "parts of ", flat.numel(), " elements between processes");
  }

  comm::Communicator& processes_;
  Device device_;
  Stream stream_;  // beside the one that tensors are computed in
  Event ready_, done_;
  std::timed_mutex mutex_;  // of calls of group_, which the watch may end
  std::atomic<ncclComm_t> group_ = nullptr;
  std::optional<PeerWatch> watch_;
};

}  // namespace

std::unique_ptr<DeviceGroup> make_device_group(comm::Communicator& processes,
                                               const Device& device) {
  return std::make_unique<NcclGroup>(processes, device);
}

}  // namespace farfield
