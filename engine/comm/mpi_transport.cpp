#include "engine/comm/mpi_transport.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "engine/base/error.h"

namespace farfield::comm {
namespace {

constexpr std::string_view kWhere = "mpi";

void check(int status) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int size = 0;
  MPI_Error_string(status, text, &size);
  fail<BackendError>(kWhere, text);
}

int rank_in_world() {
  int rank = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  return rank;
}

int size_of_world() {
  int size = 1;
  check(MPI_Comm_size(MPI_COMM_WORLD, &size));
  return size;
}

class MpiTransport final : public Transport {
 public:
  MpiTransport() : Transport(rank_in_world(), size_of_world()) {
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  }

  std::string name() const override;
  void exchange(const Outgoing& out, const Incoming& in) override;

 private:
  // A call of MPI, one at a time (MPI_THREAD_SERIALIZED): none of them waits.
  template <class Call>
  void one_at_a_time(const Call& call) {
    const std::lock_guard<std::mutex> lock(mutex_);
    check(call());
  }

  std::mutex mutex_;
};

std::string MpiTransport::name() const {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int size = 0;
  MPI_Get_library_version(text, &size);
  const std::string version(text, static_cast<size_t>(size));  // "Open MPI v4.1.4, package: ..."
  return concat("MPI (", version.substr(0, version.find_first_of(",\n")), ')');
}

// Messages of at most 1 GiB, as MPI counts in an int. Between checks it yields the processor, so
// that more processes than processors still work well.
void MpiTransport::exchange(const Outgoing& out, const Incoming& in) {
  constexpr size_t kMost = size_t{1} << 30;
  const size_t n_out = out.to == kNobody ? 0 : out.bytes.size(),
               n_in = in.from == kNobody ? 0 : in.bytes.size();
  for (size_t at = 0; at < std::max(n_out, n_in); at += kMost) {
    std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (at < n_in)
      one_at_a_time([&] {
        return MPI_Irecv(in.bytes.data() + at, static_cast<int>(std::min(kMost, n_in - at)),
                         MPI_BYTE, in.from, 0, MPI_COMM_WORLD, &requests[0]);
      });
    if (at < n_out)
      one_at_a_time([&] {
        return MPI_Isend(out.bytes.data() + at, static_cast<int>(std::min(kMost, n_out - at)),
                         MPI_BYTE, out.to, 0, MPI_COMM_WORLD, &requests[1]);
      });
    for (int is_done = 0;;) {
      one_at_a_time([&] { return MPI_Testall(2, requests.data(), &is_done, MPI_STATUSES_IGNORE); });
      if (is_done) break;
      ::sched_yield();
    }
  }
}

}  // namespace

bool has_mpi() { return true; }

std::unique_ptr<Transport> start_mpi() {
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided));
  require<BackendError>(provided >= MPI_THREAD_SERIALIZED, kWhere,
                        "expected an MPI that any thread may call (MPI_THREAD_SERIALIZED), got "
                        "level ",
                        provided);
  return std::make_unique<MpiTransport>();
}

// MPI_Finalize waits for all, without an end: it is called when they are known to be there.
bool end_mpi(std::optional<std::chrono::seconds> patience) {
  int is_started = 0, is_ended = 0;
  MPI_Initialized(&is_started);
  MPI_Finalized(&is_ended);
  if (!is_started || is_ended) return true;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  MPI_Request all_are_there = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(MPI_COMM_WORLD, &all_are_there) != MPI_SUCCESS) return false;
  for (int is_done = 0;;) {
    if (MPI_Test(&all_are_there, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (is_done) break;
    if (patience && Clock::now() - start > *patience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return MPI_Finalize() == MPI_SUCCESS;
}

void abort_mpi(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace farfield::comm
