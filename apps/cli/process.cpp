#include "apps/cli/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "apps/cli/scratch_folder.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

extern char** environ;

namespace farfield::cli {

Process::Process(const std::vector<std::string>& command, const std::filesystem::path& output) {
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0666);
  ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error =
      ::posix_spawnp(&process_, argv.front(), &files, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) process_ = -1;
  require<IoError>(error == 0, "process", command.front(),
                   ": cannot be started: ", std::strerror(error));
}

Process::Process(Process&& other) noexcept
    : process_(std::exchange(other.process_, -1)), status_(other.status_) {}

Process::~Process() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Process::take(int status) {
  status_ = WIFEXITED(status)     ? WEXITSTATUS(status)
            : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                  : 1;
  process_ = -1;
}

bool Process::has_ended() {
  if (process_ < 0) return true;
  int status = 1 << 8;  // of one that cannot be waited for
  const pid_t ended = ::waitpid(process_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
  take(status);
  return true;
}

int Process::wait() {
  int status = 1 << 8;
  while (process_ >= 0 && ::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  if (process_ >= 0) take(status);
  return status_;
}

void Process::signal(int number) const {
  if (process_ > 0) ::kill(process_, number);
}

Ended run_to_end(const std::vector<std::string>& command) {
  const ScratchFolder scratch("process");
  const std::string file = scratch / "output";
  const int status = Process(command, file).wait();
  return {status, read_file(file)};
}

void stop_with_parent(int64_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::raise(SIGTERM);
}

std::string own_program() {
  std::error_code status;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", status);
  require<IoError>(!status, "process", "cannot find this program's own file: ", status.message());
  return path.string();
}

}  // namespace farfield::cli
