#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/file_lock.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"
#include "tests/support/unprivileged.h"

BOOST_AUTO_TEST_SUITE(test_file_lock)

using namespace farfield;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(one_has_it_until_it_goes) {
  const TempFolder folder;
  const auto file = folder / "lock";
  BOOST_TEST(!FileLock::is_held(file, "test"));
  {
    const std::optional<FileLock> first = FileLock::take(file, "test");
    BOOST_TEST(first.has_value());
    BOOST_TEST(FileLock::is_held(file, "test"));
    BOOST_TEST(!FileLock::take(file, "test").has_value());
    BOOST_TEST(FileLock::owner(file) == std::to_string(::getpid()));
  }
  BOOST_TEST(!FileLock::is_held(file, "test"));
  BOOST_TEST(FileLock::take(file, "test").has_value());
}

BOOST_AUTO_TEST_CASE(a_reader_of_others_files_may_ask) {
  const TempFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  const auto file = folder / "lock";
  std::optional<FileLock> owner = FileLock::take(file, "test");
  std::filesystem::permissions(file, std::filesystem::perms(0444));
  const Unprivileged reader;
  BOOST_TEST(FileLock::is_held(file, "test"));
  owner.reset();
  BOOST_TEST(!FileLock::is_held(file, "test"));
}

BOOST_AUTO_TEST_CASE(it_moves) {
  const TempFolder folder;
  std::optional<FileLock> first = FileLock::take(folder / "lock", "test");
  std::optional<FileLock> second = std::move(first);
  first.reset();
  BOOST_TEST(FileLock::is_held(folder / "lock", "test"));
  second.reset();
  BOOST_TEST(!FileLock::is_held(folder / "lock", "test"));
}

BOOST_AUTO_TEST_CASE(a_killed_process_gives_it_back_and_patience_waits_for_that) {
  const TempFolder folder;
  const auto file = folder / "lock";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::optional<FileLock> lock = FileLock::take(file, "test");
    ::pause();
    ::_exit(0);
  }
  while (!FileLock::is_held(file, "test")) std::this_thread::sleep_for(1ms);
  BOOST_TEST(!FileLock::take(file, "test", 50ms).has_value());
  std::thread killer([&] {
    std::this_thread::sleep_for(50ms);
    ::kill(child, SIGKILL);
  });
  BOOST_TEST(FileLock::take(file, "test", 60s).has_value());
  killer.join();
  ::waitpid(child, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_locked_is_an_error) {
  const TempFolder folder;
  BOOST_CHECK_EXCEPTION(FileLock::take(folder / "none/lock", "test"), IoError,
                        says("none/lock: cannot open: No such file"));
  BOOST_TEST(FileLock::owner(folder / "none/lock") == "unknown");
}

BOOST_AUTO_TEST_SUITE_END()
