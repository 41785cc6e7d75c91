// Groups of processes with tensors on devices, each on its own.

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/distributed/sharded_optimizer.h"
#include "engine/ops/pointwise.h"
#include "tests/support/all_close.h"
#include "tests/support/cuda/devices.h"
#include "tests/support/cuda/fault_in.h"
#include "tests/support/cuda/nccl.h"
#include "tests/support/group_work.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_cuda_group)
namespace {

// `work` in so many processes, each with its device.
void on_devices(int size, const std::function<std::string(const Group&, const Device&)>& work,
                const std::string& wanted = "") {
  const emulation::KeepDevices keep;
  emulation::emulated_devices().capabilities.resize(static_cast<size_t>(size), {8, 0});
  test::check_group(
      size,
      [&](const Group& group) {
        return work(group, {Device::Kind::cuda, group.rank()});
      },
      wanted);
}

Tensor own_values(const Shape& shape, const Group& group, DType dtype = DType::f32) {
  return random_tensor(shape, static_cast<uint64_t>(group.rank()), -1, 1, dtype);
}

BOOST_AUTO_TEST_CASE(sums_equal_those_of_the_host) {
  for (const int size : {2, 3})
    on_devices(size, [](const Group& group, const Device& device) {
      std::string wrong;
      for (const DType dtype : {DType::f32, DType::f64})
        for (const int64_t n : {1, 1000, 40'000}) {
          const Tensor host = own_values({n}, group, dtype), x = host.to(device);
          group.sum(host);
          group.sum(x);
          wrong += test::said(all_close(x.to(Device{}), host, 1e-5));
        }
      return wrong;
    });
}

// FARFIELD_CUDA_SYNC=1
BOOST_AUTO_TEST_CASE(a_fault_is_that_of_the_sum_when_each_is_waited_for) {
  on_devices(
      2,
      [](const Group& group, const Device& device) {
        const Tensor x = own_values({40}, group).to(device);
        const test::WaitsForEach each(true);
        const auto failure = [](const auto& work) {
          const test::FaultIn fault(1);
          return message_of<BackendError>(work) + '\n';
        };
        return failure([&] { group.sum(x); }) +
               failure([&] { group.begin_reduce_scatter(x, 16); }) +
               failure([&] { group.all_gather(x, 16); });
      },
      "[cuda] a sum of 40 elements over processes: an illegal memory access was encountered\n"
      "[cuda] parts of 40 elements between processes: an illegal memory access was encountered\n"
      "[cuda] parts of 40 elements between processes: an illegal memory access was encountered\n");
}

BOOST_AUTO_TEST_CASE(parts_equal_those_of_the_host) {
  constexpr int64_t kUnit = 16;
  for (const int size : {2, 3})
    on_devices(size, [](const Group& group, const Device& device) {
      std::string wrong;
      for (const int64_t n : {5, 40, 1000, 40'000}) {  // some have no part of the first
        const Tensor host = own_values({n}, group), x = host.to(device);
        group.reduce_scatter(host, kUnit);
        group.begin_reduce_scatter(x, kUnit);
        group.finish(device);
        const comm::Range own = group.own_part(n, kUnit);
        if (own.size() > 0)
          wrong += test::said(all_close(x.to(Device{}).view({own.size()}, own.begin),
                                        host.view({own.size()}, own.begin), 1e-5));
        group.all_gather(host, kUnit);
        group.all_gather(x, kUnit);
        wrong += test::said(all_close(x.to(Device{}), host, 1e-5));
      }
      return wrong;
    });
}

BOOST_AUTO_TEST_CASE(a_group_has_one_device_and_an_error_says_what_is_wrong) {
  on_devices(
      2,
      [](const Group& group, const Device& device) {
        const Tensor x = own_values({4}, group).to(device);
        group.sum(x);
        const Tensor other = x.to({Device::Kind::cuda, 1 - device.index});
        try {
          group.sum(other);
        } catch (const DeviceError& error) {
          return std::string(error.what()).substr(0, 34);
        }
        return std::string("summed");
      },
      "[processes] expected tensors on cu");
  test::check_group(
      2,
      [](const Group& group) {
        try {
          group.sum(Tensor::zeros({4}, DType::f32, {Device::Kind::cuda, 0}));
        } catch (const BackendError& error) {
          return std::string(error.what()).substr(0, 31);
        }
        return std::string("summed");
      },
      "[nccl] a group of 2 processes, ");
}

// The device waits for it, and the host for the device, until the watch makes it give up.
BOOST_AUTO_TEST_CASE(one_that_has_ended_is_missed) {
  const std::string wanted = "[processes] process 1 of 2 has ended or cannot be reached any more";
  on_devices(
      2,
      [&](const Group& group, const Device& device) {
        const Tensor x = own_values({4}, group).to(device);
        group.sum(x);
        if (group.rank() == 1) return wanted;
        emulation::emulated_nccl().limit_s = 0.2;
        group.sum(x);
        x.to(Device{});
        try {
          group.sum(x);
        } catch (const BackendError& error) {
          return std::string(error.what()).substr(0, wanted.size());
        }
        return std::string("summed");
      },
      wanted);
}

// Of several buckets, some shards.
std::vector<Parameter> parameters(const Device& device) {
  std::vector<Parameter> all;
  for (const int64_t size : {10, 400'000, 3, 250'000}) {
    Tensor value = random_tensor({size}, static_cast<uint64_t>(size), -1, 1, DType::f32).to(device);
    value.set_requires_grad();
    all.push_back({.name = "p" + std::to_string(all.size()), .value = value, .decay = size > 10});
  }
  return all;
}

// Two updates with gradients that are the sum of what the processes have.
std::vector<Tensor> updated(const Group& group, const Device& device, double& norm) {
  ShardedOptimizer optimizer(
      parameters(device), ProcessGrid::of(group, 1), [](std::vector<Parameter> own) {
        return std::make_unique<AdamW>(std::move(own), AdamWOptions{.weight_decay = 0.1});
      });
  const std::vector<Parameter>& all = optimizer.parameters();
  const double share = 1.0 / group.size();
  for (uint64_t step = 0; step < 2; ++step) {
    optimizer.begin_update(1e-2);
    if (optimizer.is_sharded()) optimizer.buckets().begin();
    for (size_t i = all.size(); i-- > 0;) {
      const Tensor gradient =
          random_tensor(all[i].value.shape(), 7 * step + i, -1, 1, DType::f32).to(device) * share;
      if (optimizer.is_sharded())
        optimizer.buckets().put(i, gradient);
      else
        all[i].value.set_grad(gradient);
    }
    if (optimizer.is_sharded()) optimizer.buckets().finish();
    const Tensor grad_norm = optimizer.grad_norm();
    norm = grad_norm.item();
    optimizer.update(
        {.loss = Tensor::zeros({}, DType::f64, device), .grad_norm = grad_norm, .max_norm = 1},
        std::vector<bool>(all.size(), true));
    optimizer.zero_grad();
  }
  std::vector<Tensor> values;
  for (const Parameter& p : all) values.push_back(p.value.to(Device{}));
  return values;
}

BOOST_AUTO_TEST_CASE(an_optimizer_of_several_devices_makes_the_update_of_one) {
  for (const int size : {2, 3})
    on_devices(size, [](const Group& group, const Device& device) {
      double norm = 0, want_norm = 0;
      const std::vector<Tensor> got = updated(group, device, norm),
                                want = updated({}, Device{}, want_norm);
      std::string wrong;
      for (size_t i = 0; i < want.size(); ++i)
        wrong += test::said(all_close(got[i], want[i], 1e-5));
      if (!(std::abs(norm / want_norm - 1) < 1e-5)) wrong += concat("norm ", norm);
      return wrong;
    });
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
