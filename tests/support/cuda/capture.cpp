#include "tests/support/cuda/capture.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/cuda/faults.h"
#include "tests/support/cuda/stream.h"

using namespace farfield::emulation;

struct CUgraphExec_st {
  std::vector<std::function<void()>> nodes;
};

namespace farfield::emulation {
namespace {

std::atomic<int64_t> launches = 0;

// Captures between begin and end.
struct Captures {
  std::mutex mutex;
  std::set<std::shared_ptr<CUgraph_st>> all;
};
Captures& captures() {
  static auto* const kept = new Captures;  // never destroyed: streams may outlive static objects
  return *kept;
}

}  // namespace

bool is_capturing(const CUstream_st* stream) { return stream && stream->capture; }

cudaError_t capture(CUstream_st* stream, std::function<void()> work) {
  if (stream->capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
  stream->capture->nodes.push_back(std::move(work));
  return cudaSuccess;
}

cudaError_t refuse_to_capture(CUstream_st* stream) {
  if (stream->capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
  stream->capture->is_invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_to_free() {
  const std::lock_guard lock(captures().mutex);
  for (const auto& graph : captures().all) graph->is_invalid = true;
  return captures().all.empty() ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
}

int64_t n_graph_launches() { return launches; }

}  // namespace farfield::emulation

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = !stream || !is_capturing(stream) ? cudaStreamCaptureStatusNone
            : stream->capture->is_invalid    ? cudaStreamCaptureStatusInvalidated
                                             : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (!stream) return cudaErrorStreamCaptureUnsupported;
  if (is_capturing(stream)) return cudaErrorIllegalState;
  stream->capture = std::make_shared<CUgraph_st>();
  const std::lock_guard lock(captures().mutex);
  captures().all.insert(stream->capture);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!is_capturing(stream)) return cudaErrorIllegalState;
  const auto captured = std::exchange(stream->capture, nullptr);
  const std::lock_guard lock(captures().mutex);
  captures().all.erase(captured);
  if (captured->is_invalid) return cudaErrorStreamCaptureInvalidated;
  *graph = new CUgraph_st{std::move(captured->nodes)};
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* n_nodes) {
  if (!graph || nodes) return cudaErrorInvalidValue;
  *n_nodes = graph->nodes.size();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  if (!graph) return cudaErrorInvalidValue;
  *exec = new CUgraphExec_st{graph->nodes};
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (!exec) return cudaErrorInvalidValue;
  if (is_capturing(stream)) return refuse_to_capture(stream);
  if (const cudaError_t status = found_fault(); status != cudaSuccess) return status;
  ++launches;
  for (const auto& work : exec->nodes) work();
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}
