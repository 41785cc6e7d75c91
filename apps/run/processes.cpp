#include "apps/run/processes.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/threads.h"
#include "apps/cli/version.h"
#include "apps/run/together.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/comm/mpi_transport.h"
#include "engine/device.h"

namespace farfield::run {
namespace {

// As Slurm leaves it, with a GPU for each task.
bool has_one_gpu(const comm::Environment& environment) {
  const std::optional<std::string> visible = environment("CUDA_VISIBLE_DEVICES");
  return visible && !visible->empty() && visible->find(',') == std::string::npos;
}

}  // namespace

Processes::Processes() : launch_(comm::launch_of(comm::environment_of_process())) {
  if (!is_first()) cli::leave_remarks_to_first();
  set_default_cuda(has_one_gpu(comm::environment_of_process()) ? 0 : launch_.local_rank);
}

void Processes::before_meeting(const std::function<void()>& work) const {
  try {
    work();
  } catch (const ConfigError& error) {
    if (is_first()) throw;
    throw OtherFailed(error.what(), cli::kUsage);
  }
}

void Processes::meet(const std::string& config, std::optional<int64_t> threads) {
  group_ = Group(std::make_shared<comm::Communicator>(comm::meet(launch_)));
  if (threads) cli::use_threads(threads, remarks());
  if (group_.is_alone()) return;
  comm::Communicator& all = group_.communicator();
  all.require_equal("build", cli::version_text());
  all.require_equal("configuration", config);
  const Processors own = own_processors();
  const std::vector<std::string> hosts = all.gather(own.host), masks = all.gather(own.mask);
  for (size_t rank = 0; rank < hosts.size(); ++rank)
    processors_.push_back({hosts[rank], masks[rank]});
  if (!threads && std::getenv("FARFIELD_THREADS") == nullptr)
    set_thread_count(processor_share(processors_, all.rank()));
}

std::ostream& Processes::in_first(std::ostream& stream) const {
  static std::ostream nowhere(nullptr);
  return is_first() ? stream : nowhere;
}

std::ostream& Processes::out() const { return in_first(std::cout); }
std::ostream& Processes::err() const { return in_first(std::cerr); }
std::ostream& Processes::remarks() const { return cli::remarks(); }

// mpirun passes output through a terminal of its own making.
cli::Progress Processes::progress() const {
  return {remarks(), group_.is_alone() && ::isatty(STDERR_FILENO) == 1};
}

std::string Processes::description() const {
  std::string text =
      concat(group_.communicator().description(), ", started by ", launch_.starter, ": ",
             thread_count(), thread_count() == 1 ? " thread" : " threads", " each");
  if (group_.is_alone()) return text;
  // By the starter, or by what it runs in.
  const int64_t n_used = n_used_processor(processors_, group_.rank());
  if (n_used < n_processor())
    text += concat("; they are bound to ", n_used, " of ", n_processor(), " processors",
                   launch_.starter == "mpirun" ? ", --bind-to none may free them" : "");
  return text;
}

int run_main(int argc, char** argv, const std::function<int(int argc, char** argv)>& program) {
  std::string unsaid;
  const int status = cli::run_main(argc, argv, [&](int n, char** words) -> int {
    try {
      return program(n, words);
    } catch (const OtherFailed& error) {
      unsaid = error.what();
      return error.status;
    }
  });
  std::optional<std::chrono::seconds> patience;  // who is done waits for the others' work
  if (status != cli::kDone) patience.emplace(unsaid.empty() && status != cli::kStopped ? 5 : 20);
  if (comm::end_mpi(patience)) return status;
  if (!unsaid.empty()) std::cerr << cli::printable(unsaid) << std::endl;
  comm::abort_mpi(status);
}

int run_as_job(std::ostream& out, const std::function<int(Processes&, std::ostream&)>& work) {
  Processes processes;
  if (processes.is_first()) return work(processes, out);
  std::ostream nowhere(nullptr);
  try {
    return work(processes, nowhere);
  } catch (const ConfigError& error) {
    throw OtherFailed(error.what(), cli::kUsage);
  }
}

std::string words_of(int argc, const char* const* argv) {
  std::string words;
  for (int i = 1; i < argc; ++i) words.append(argv[i]).append(" ");
  return words;
}

}  // namespace farfield::run
