#include "engine/cuda/graph.h"

#include <utility>

#include "engine/allocator.h"
#include "engine/cuda/check.h"
#include "engine/cuda/context.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/staging.h"
#include "engine/kernels/record_work.h"

namespace farfield {
namespace {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
using OwnedGraph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;

// Copies to the device are recorded for as long as it lives.
struct RecordedCopies {
  explicit RecordedCopies(Staging& to) : staging(to) { staging.begin_recording(); }
  RecordedCopies(const RecordedCopies&) = delete;
  RecordedCopies& operator=(const RecordedCopies&) = delete;
  ~RecordedCopies() { staging.end_recording(); }
  Staging& staging;
};

class CudaRecording final : public Recording {
 public:
  CudaRecording(Cuda device, const std::function<void()>& work)
      : device_(device), reserve_(allocator_of(device)) {
    const RecordedCopies copies(staging_of(device));
    Capture capture(stream_of(device));
    work();
    graph_ = capture.end();
    pinned_ = copies.staging.end_recording();
    reserve_.close();
  }
  // An unfinished launch still uses the memory. Errors are ignored here: the next wait reports
  // them.
  ~CudaRecording() override { cudaStreamSynchronize(stream_of(device_)); }

  void repeat() override { graph_.launch(stream_of(device_)); }
  bool refill(const std::function<void()>& work) override {
    synchronize(device_);
    Staging& staging = staging_of(device_);
    staging.begin_refill(pinned_);
    try {
      work();
    } catch (...) {
      staging.end_refill();
      throw;
    }
    return staging.end_refill();
  }
  int64_t n_nodes() const override { return graph_.n_nodes(); }

 private:
  Cuda device_;
  Allocator::Reserve reserve_;
  std::vector<Staging::Recorded> pinned_;
  Graph graph_;
};

}  // namespace

void Graph::launch(cudaStream_t stream) const {
  cuda_check(cudaGraphLaunch(exec_.get(), stream), "launch of a graph of ", n_nodes_, " nodes");
}

// Relaxed: else the runtime would refuse to allocate memory, for fear of a wait.
Capture::Capture(cudaStream_t stream) : stream_(stream) {
  cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "begin of a capture");
}

Capture::~Capture() {
  if (stream_ == nullptr) return;
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream_, &graph);
  const OwnedGraph owned(graph);
}

Graph Capture::end() {
  cudaGraph_t graph = nullptr;
  cuda_check(cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph), "end of a capture");
  const OwnedGraph owned(graph);
  size_t n_nodes = 0;
  cuda_check(cudaGraphGetNodes(graph, nullptr, &n_nodes), "the size of a graph");
  cudaGraphExec_t exec = nullptr;
  cuda_check(cudaGraphInstantiate(&exec, graph, 0), "a graph of ", n_nodes, " nodes");
  Graph made;
  made.exec_.reset(exec);
  made.n_nodes_ = static_cast<int64_t>(n_nodes);
  return made;
}

std::unique_ptr<Recording> record_work(Cuda device, const std::function<void()>& work) {
  require<BackendError>(!waits_for_each_launch(), "cuda",
                        "FARFIELD_CUDA_SYNC=1 asks for each kernel to be waited for, which those "
                        "of a graph cannot be");
  return std::make_unique<CudaRecording>(device, work);
}

}  // namespace farfield
