// The emulated runtime treats a captured stream as NVIDIA's does.

#include <boost/test/unit_test.hpp>
#include <vector>

#include "engine/cuda/launch.h"
#include "engine/cuda/stream.h"
#include "tests/support/cuda/capture.h"
#include "tests/support/cuda/device_array.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_capture)
namespace {

__global__ void add_kernel(int value, int* out) { atomicAdd(out, value); }

cudaError_t begin(const Stream& stream) {
  return cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed);
}

cudaError_t end(const Stream& stream) {
  cudaGraph_t graph = nullptr;
  const cudaError_t status = cudaStreamEndCapture(stream.get(), &graph);
  BOOST_TEST((graph != nullptr) == (status == cudaSuccess));
  cudaGraphDestroy(graph);
  return status;
}

BOOST_AUTO_TEST_CASE(nothing_is_done_before_a_launch_and_everything_at_each) {
  const Stream stream;
  const DeviceArray<int> out(3, 7), from(3, 1);
  void* pinned = nullptr;
  BOOST_TEST(cudaHostAlloc(&pinned, 4, cudaHostAllocDefault) == cudaSuccess);
  *static_cast<int*>(pinned) = 40;
  BOOST_TEST(begin(stream) == cudaSuccess);
  BOOST_TEST(begin(stream) == cudaErrorIllegalState);
  {
    int value = 2;  // a launch reads its arguments at once
    launch(add_kernel, 1, 1, 0, stream.get(), value, out.data());
    value = 100;
  }
  cudaMemcpyAsync(out.data() + 1, pinned, 4, cudaMemcpyDefault, stream.get());
  launch(add_kernel, 1, 1, 0, stream.get(), 1, out.data() + 1);
  cudaMemsetAsync(from.data() + 1, 0, 4, stream.get());
  cudaMemset2DAsync(from.data() + 2, 4, 0, 4, 1, stream.get());
  cudaMemcpyAsync(out.data() + 2, from.data() + 2, 4, cudaMemcpyDeviceToDevice, stream.get());
  cudaGraph_t graph = nullptr;
  BOOST_TEST(cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess);
  BOOST_TEST(end(stream) == cudaErrorIllegalState);
  BOOST_TEST((out.values() == std::vector<int>{7, 7, 7}));
  size_t n_nodes = 0;
  BOOST_TEST(cudaGraphGetNodes(graph, nullptr, &n_nodes) == cudaSuccess);
  BOOST_TEST(n_nodes == 6);
  cudaGraphExec_t exec = nullptr;
  BOOST_TEST(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  cudaGraphDestroy(graph);
  const int64_t before = emulation::n_graph_launches();
  BOOST_TEST(cudaGraphLaunch(exec, stream.get()) == cudaSuccess);
  BOOST_TEST((out.values() == std::vector<int>{9, 41, 0}));
  BOOST_TEST((from.values() == std::vector<int>{1, 0, 0}));
  *static_cast<int*>(pinned) = 50;  // read at each launch
  BOOST_TEST(cudaGraphLaunch(exec, stream.get()) == cudaSuccess);
  BOOST_TEST((out.values() == std::vector<int>{11, 51, 0}));
  BOOST_TEST(emulation::n_graph_launches() - before == 2);
  cudaGraphExecDestroy(exec);
  cudaFreeHost(pinned);
}

BOOST_AUTO_TEST_CASE(the_default_stream_is_not_captured) {
  BOOST_TEST(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed) ==
             cudaErrorStreamCaptureUnsupported);
}

// Each of these ends a capture, whose stream is then as ever.
BOOST_AUTO_TEST_CASE(a_captured_stream_is_not_waited_for_nor_read_by_the_host) {
  const Stream stream;
  const DeviceArray<int> out(1, 7);
  int host = 0;
  Event event;
  const auto refuses = [&](cudaError_t expected, const auto& ask) {
    BOOST_TEST(begin(stream) == cudaSuccess);
    launch(add_kernel, 1, 1, 0, stream.get(), 1, out.data());
    event.record(stream.get());
    BOOST_TEST(ask() == expected);
    BOOST_CHECK_THROW(launch(add_kernel, 1, 1, 0, stream.get(), 1, out.data()), BackendError);
    BOOST_TEST(end(stream) == cudaErrorStreamCaptureInvalidated);
    BOOST_TEST(out.values()[0] == 7);
    BOOST_TEST(cudaStreamSynchronize(stream.get()) == cudaSuccess);
  };
  refuses(cudaErrorStreamCaptureUnsupported, [&] { return cudaStreamSynchronize(stream.get()); });
  refuses(cudaErrorCapturedEvent, [&] { return cudaEventQuery(event.get()); });
  refuses(cudaErrorCapturedEvent, [&] { return cudaEventSynchronize(event.get()); });
  refuses(cudaErrorStreamCaptureUnsupported,
          [&] { return cudaStreamWaitEvent(stream.get(), event.get()); });
  refuses(cudaErrorStreamCaptureUnsupported, [&] {
    return cudaMemcpyAsync(&host, out.data(), 4, cudaMemcpyDeviceToHost, stream.get());
  });
  refuses(cudaErrorStreamCaptureUnsupported, [&] {
    return cudaMemcpyAsync(out.data(), &host, 4, cudaMemcpyHostToDevice, stream.get());
  });
  event.record(stream.get());
  BOOST_TEST(cudaEventQuery(event.get()) == cudaSuccess);
}

// It may be had meanwhile.
BOOST_AUTO_TEST_CASE(no_memory_is_given_back_while_a_stream_is_captured) {
  const Stream stream, other;
  const auto holds = [&](const auto& get, const auto& put) {
    void* data = nullptr;
    BOOST_TEST(begin(stream) == cudaSuccess);
    BOOST_TEST(begin(other) == cudaSuccess);
    BOOST_TEST(get(&data) == cudaSuccess);
    BOOST_TEST(end(other) == cudaSuccess);
    BOOST_TEST(begin(other) == cudaSuccess);
    BOOST_TEST(put(data) == cudaErrorStreamCaptureUnsupported);
    BOOST_TEST(end(stream) == cudaErrorStreamCaptureInvalidated);
    BOOST_TEST(put(data) == cudaErrorStreamCaptureUnsupported);
    BOOST_TEST(end(other) == cudaErrorStreamCaptureInvalidated);
    BOOST_TEST(put(data) == cudaSuccess);
  };
  holds([](void** at) { return cudaMalloc(at, 4); }, cudaFree);
  holds([](void** at) { return cudaHostAlloc(at, 4, cudaHostAllocDefault); }, cudaFreeHost);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
