// What becomes of a program whose standard streams are not as usual.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <functional>
#include <iostream>

#include "apps/cli/options.h"
#include "engine/base/file.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_output)

using namespace farfield;
using namespace farfield::cli;

namespace {

struct Ended {
  int code;
  std::string said;  // on stderr
};

// run_main(fn) in a process of its own, after `before`, which may close descriptors.
Ended end_of(const std::function<void()>& before, const std::function<int()>& fn) {
  const TempFolder folder;
  const std::string errors = (folder / "stderr").string();
  std::cout.flush();
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(errors.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666), STDERR_FILENO);
    before();
    char name[] = "bin/inspect";
    char* argv[] = {name};
    ::_exit(run_main(1, argv, [&](int, char**) { return fn(); }));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST_REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), read_file(errors)};
}

void send_output_to(const char* path) {
  const int file = ::open(path, O_WRONLY);
  ::dup2(file, STDOUT_FILENO);
  ::close(file);
}

int print() {
  std::cout << "a table\n";
  return kDone;
}

}  // namespace

BOOST_AUTO_TEST_CASE(output_that_a_full_disk_takes_is_an_error_at_the_end) {
  const auto full = [] { send_output_to("/dev/full"); };
  const Ended ended = end_of(full, print);
  BOOST_TEST(ended.code == kBadData);
  BOOST_TEST(ended.said.find("inspect: [output] standard output: cannot write: No space left on "
                             "device; the output is not complete") == 0u,
             ended.said);
  // Also where it went wrong long before the end.
  const auto early = [] {
    std::cout << "a line" << std::endl << "another" << std::endl;
    return print();
  };
  BOOST_TEST(end_of(full, early).code == kBadData);
  BOOST_TEST(end_of(full, early).said.find("standard output: cannot write") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_program_that_prints_nothing_has_lost_nothing) {
  BOOST_TEST(end_of([] { send_output_to("/dev/full"); }, [] { return kDone; }).code == kDone);
  BOOST_TEST(end_of([] { ::close(STDOUT_FILENO); }, [] { return kDone; }).code == kDone);
  BOOST_TEST(end_of([] { send_output_to("/dev/null"); }, print).code == kDone);
}

BOOST_AUTO_TEST_CASE(what_else_ended_a_program_stays_its_exit_code) {
  for (const int code : {1, 2, 75})
    BOOST_TEST(end_of([] { send_output_to("/dev/full"); },
                      [&] {
                        print();
                        return code;
                      })
                   .code == code);
}

BOOST_AUTO_TEST_CASE(no_file_of_the_program_becomes_a_standard_stream) {
  for (const int closed : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const Ended ended = end_of([&] { ::close(closed); },
                               [] {
                                 const int file = ::open("/dev/null", O_RDWR);
                                 std::cerr << "printed";
                                 return file;
                               });
    BOOST_TEST(ended.code > STDERR_FILENO);
  }
  const auto close_all = [] {
    for (const int fd : {0, 1, 2}) ::close(fd);
  };
  BOOST_TEST(end_of(close_all, [] { return ::open("/dev/null", O_RDWR); }).code > STDERR_FILENO);
}

BOOST_AUTO_TEST_CASE(output_that_was_closed_is_lost_like_on_a_full_disk) {
  const Ended ended = end_of([] { ::close(STDOUT_FILENO); }, print);
  BOOST_TEST(ended.code == kBadData);
  BOOST_TEST(ended.said.find("Bad file descriptor; it is closed; send it to /dev/null") !=
                 std::string::npos,
             ended.said);
}

BOOST_AUTO_TEST_CASE(standard_input_that_was_closed_reads_as_empty) {
  BOOST_TEST(
      end_of([] { ::close(STDIN_FILENO); }, [] { return std::cin.get() == EOF ? 7 : 8; }).code ==
      7);
}

BOOST_AUTO_TEST_SUITE_END()
