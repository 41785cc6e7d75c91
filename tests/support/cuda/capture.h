#pragma once
// Streams whose work is captured: kept in order as functions, none of which runs before its graph
// is launched.

#include <cstdint>
#include <functional>

struct CUstream_st;
enum cudaError_t : int;

namespace farfield::emulation {

/// Whether the stream is between begin and end of a capture, be it invalid by now.
bool is_capturing(const CUstream_st* stream);
/// Puts work into the graph of a stream that is captured. An error when the capture is invalid.
cudaError_t capture(CUstream_st* stream, std::function<void()> work);
/// The runtime's reaction to a request that a captured stream cannot take: returns the error, and
/// the capture is then invalid.
cudaError_t refuse_to_capture(CUstream_st* stream);
/// Memory is not given back while any stream is captured: the runtime would wait for the device,
/// whose work the captures stand in the way of. An error then, and all captures are invalid.
cudaError_t refuse_to_free();

/// Launches of graphs so far.
int64_t n_graph_launches();

}  // namespace farfield::emulation
