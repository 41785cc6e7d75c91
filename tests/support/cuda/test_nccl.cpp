// The emulated library of groups, between processes and between threads.

#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/cuda/stream.h"
#include "tests/support/cuda/device_array.h"
#include "tests/support/cuda/devices.h"
#include "tests/support/cuda/nccl.h"
#include "tests/support/processes.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_nccl)
namespace {

using test::EndedProcess;

// A process of a group, on a device of its own.
struct Member {
  int rank, size;
  Stream stream;
  ncclComm_t group = nullptr;
  ncclResult_t joined = ncclSuccess;

  Member(int own_rank, int of_size, const ncclUniqueId& id, int device)
      : rank(own_rank), size(of_size) {
    cuda_check(cudaSetDevice(device), "the choice of a device");
    joined = ncclCommInitRank(&group, size, id, rank);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member() { ncclCommDestroy(group); }
};

using Work = std::function<std::string(Member&)>;

std::vector<std::string> in_group(int size, const Work& work, bool have_own_devices = true) {
  const emulation::KeepDevices keep;
  emulation::emulated_devices().capabilities.resize(static_cast<size_t>(size), {8, 0});
  const auto run = [&](comm::Communicator& processes) {
    ncclUniqueId id{};
    if (processes.is_first() && ncclGetUniqueId(&id) != ncclSuccess) return std::string("no id");
    processes.broadcast(std::as_writable_bytes(std::span(id.internal)));
    Member member(processes.rank(), size, id, have_own_devices ? processes.rank() : 0);
    return member.joined == ncclSuccess ? work(member) : ncclGetErrorString(member.joined);
  };
  std::vector<std::string> said;
  for (const EndedProcess& process :
       test::in_processes(size, std::function<std::string(comm::Communicator&)>(run)))
    said.push_back(process.said);
  return said;
}

void check_all(const std::vector<std::string>& said, const std::string& wanted) {
  for (size_t rank = 0; rank < said.size(); ++rank)
    BOOST_TEST(said[rank] == wanted, "process " << rank << ": " << said[rank]);
}

// More than is exchanged at once.
constexpr size_t kMany = 40'000;

template <class T>
std::string sums(Member& m, ncclDataType_t type) {
  std::vector<T> values(kMany);
  for (size_t i = 0; i < kMany; ++i)
    values[i] = static_cast<T>(static_cast<size_t>(m.rank) * 1000 + i % 100);
  const DeviceArray<T> from(values), to(kMany, T{-1});
  if (ncclAllReduce(from.data(), to.data(), kMany, type, ncclSum, m.group, m.stream.get()) !=
      ncclSuccess)
    return "failed";
  const std::vector<T> got = to.values();
  for (size_t i = 0; i < kMany; ++i)
    if (got[i] != static_cast<T>(3000 + 3 * (i % 100))) return concat(got[i], " at ", i);
  return "";
}

BOOST_AUTO_TEST_CASE(sums_over_all_are_in_all) {
  check_all(in_group(3, [](Member& m) { return sums<float>(m, ncclFloat32); }), "");
  check_all(in_group(3, [](Member& m) { return sums<double>(m, ncclFloat64); }), "");
}

BOOST_AUTO_TEST_CASE(threads_of_one_process_are_a_group_too) {
  const emulation::KeepDevices keep;
  emulation::emulated_devices().capabilities.resize(3, {8, 0});
  ncclUniqueId id{};
  BOOST_TEST_REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
  std::vector<std::string> said(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      Member member(rank, 3, id, rank);
      said[static_cast<size_t>(rank)] =
          member.joined == ncclSuccess ? sums<float>(member, ncclFloat32) : "not joined";
    });
  for (std::thread& thread : threads) thread.join();
  check_all(said, "");
}

BOOST_AUTO_TEST_CASE(sums_to_one_and_values_of_one_begin_together) {
  check_all(
      in_group(2,
               [](Member& m) {
                 const auto own = static_cast<float>(m.rank + 1);
                 const DeviceArray<float> a(5, own), b(3, own), c(2, own);
                 const auto all = [&](ncclResult_t status) {
                   require<Error>(status == ncclSuccess, "test", ncclGetErrorString(status));
                 };
                 all(ncclGroupStart());
                 all(ncclReduce(a.data(), a.data(), 5, ncclFloat32, ncclSum, 0, m.group,
                                m.stream.get()));
                 all(ncclReduce(b.data(), b.data(), 3, ncclFloat32, ncclSum, 1, m.group,
                                m.stream.get()));
                 all(ncclBroadcast(c.data(), c.data(), 2, ncclFloat32, 1, m.group, m.stream.get()));
                 const bool waits = a.values()[4] == own && c.values()[0] == own;
                 all(ncclGroupEnd());
                 const bool sums_right = (m.rank == 0 ? a : b).values().back() == 3;
                 const bool rest_right = (m.rank == 0 ? b : a).values().back() == own;
                 return waits && sums_right && rest_right && c.values()[1] == 2 ? std::string()
                                                                                : "wrong";
               }),
      "");
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const auto sum = [](Member& m, const void* data, size_t n, cudaStream_t stream) {
    return std::string(ncclGetErrorString(
        ncclAllReduce(data, const_cast<void*>(data), n, ncclFloat32, ncclSum, m.group, stream)));
  };
  check_all(in_group(2,
                     [&](Member& m) {
                       const DeviceArray<float> x(4, 1.0f);
                       const float host[4] = {};
                       return sum(m, host, 4, m.stream.get()) + ", " +
                              sum(m, x.data(), 5, m.stream.get()) + ", " +
                              sum(m, x.data(), 4, nullptr) + ", " +
                              sum(m, x.data(), static_cast<size_t>(3 + m.rank), m.stream.get());
                     }),
            "invalid argument, invalid argument, invalid argument, invalid argument");
  check_all(in_group(
                2, [](Member&) { return std::string(); }, /*have_own_devices=*/false),
            "invalid usage");
  check_all(in_group(2,
                     [&](Member& m) {
                       const DeviceArray<float> x(4, 1.0f);
                       cuda_check(
                           cudaStreamBeginCapture(m.stream.get(), cudaStreamCaptureModeRelaxed),
                           "capture");
                       const std::string said = sum(m, x.data(), 4, m.stream.get());
                       cudaGraph_t graph = nullptr;
                       cudaStreamEndCapture(m.stream.get(), &graph);
                       cudaGraphDestroy(graph);
                       return said;
                     }),
            "invalid usage");
}

BOOST_AUTO_TEST_CASE(one_that_does_not_come_is_missed) {
  const std::vector<std::string> said = in_group(2, [](Member& m) -> std::string {
    if (m.rank == 1) return "gone";
    emulation::emulated_nccl().limit_s = 0.2;
    const DeviceArray<float> x(4, 1.0f);
    std::string asked = ncclGetErrorString(
        ncclAllReduce(x.data(), x.data(), 4, ncclFloat32, ncclSum, m.group, m.stream.get()));
    asked += m.stream.is_busy() ? ", waits" : ", done";
    std::thread other([&] { ncclCommAbort(std::exchange(m.group, nullptr)); });
    m.stream.synchronize();
    other.join();
    return asked + (m.stream.is_busy() ? ", waits" : ", done");
  });
  BOOST_TEST(said[0] == "no error, waits, done");
  BOOST_TEST(said[1] == "gone");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
