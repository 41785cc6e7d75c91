#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include "engine/base/file.h"
#include "engine/base/temporary.h"
#include "tests/support/temp_folder.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_temporary)
namespace {

namespace fs = std::filesystem;

std::string own_name(const std::string& name) {
  return name + ".tmp-" + std::to_string(::getpid());
}

// Another process that does `work` and then waits; killed by end().
class Other {
 public:
  explicit Other(const std::function<void()>& work) {
    int ready[2];
    BOOST_TEST_REQUIRE(::pipe(ready) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      work();
      (void)!::write(ready[1], "x", 1);
      while (true) ::pause();
    }
    char byte;
    BOOST_TEST_REQUIRE(::read(ready[0], &byte, 1) == 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Other() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

BOOST_AUTO_TEST_CASE(what_a_killed_process_left_goes_and_what_a_living_one_writes_stays) {
  const TempFolder folder;
  Other other([&] {
    auto* file = new AtomicFile(folder / "file");  // a kill runs no destructor
    file->write("half");
    file->flush();
    auto* made = new AtomicFolder(folder / "made");
    write_file_atomic(made->folder() / "part", "half");
  });
  BOOST_TEST(folder.entries() == 2);
  remove_leftovers(folder / "file");
  remove_leftovers(folder / "made");
  remove_leftovers_in(folder.path());
  remove_leftovers_in(folder.path(), Folder::locked);
  BOOST_TEST(folder.entries() == 2);
  other.end();
  remove_leftovers(folder / "made/");
  BOOST_TEST(folder.entries() == 1);
  remove_leftovers(folder / "file");
  BOOST_TEST(folder.entries() == 0);
}

BOOST_AUTO_TEST_CASE(only_what_is_written_under_such_a_name_goes) {
  const TempFolder folder;
  const std::vector<std::string> kept = {"a",         "a.tmp-", "a.tmp-x",   "a.tmp-1-",
                                         "a.tmp-12x", ".tmp-1", "a.tmp-new", "gone.old-3"};
  for (const std::string& name : kept) write_file_atomic(folder / name, "");
  fs::create_symlink("a", folder / "a.tmp-5");  // nothing of ours is a link
  for (const char* name : {"a.tmp-1", "a.tmp-1-2", "a.old-7", "b.tmp-9"})
    write_file_atomic(folder / name, "");
  fs::create_directories(folder / "a.tmp-old/inner");
  remove_leftovers(folder / "a");
  BOOST_TEST(fs::exists(folder / "b.tmp-9"));
  BOOST_TEST(!fs::exists(folder / "a.tmp-old"));
  remove_leftovers_in(folder.path());
  for (const std::string& name : kept) BOOST_TEST(fs::exists(folder / name), name);
  BOOST_TEST(folder.entries() == static_cast<int>(kept.size()) + 1);
}

BOOST_AUTO_TEST_CASE(a_process_of_the_same_number_elsewhere_keeps_its_name) {
  const TempFolder folder;
  // As another container would hold them.
  const int file = ::open((folder / own_name("file")).c_str(), O_RDWR | O_CREAT, 0666);
  BOOST_TEST_REQUIRE(::write(file, "theirs", 6) == 6);
  BOOST_TEST_REQUIRE(::flock(file, LOCK_EX) == 0);
  fs::create_directory(folder / own_name("made"));
  const int made = ::open((folder / own_name("made")).c_str(), O_RDONLY | O_DIRECTORY);
  BOOST_TEST_REQUIRE(::flock(made, LOCK_EX) == 0);

  write_file_atomic(folder / "file", "ours");
  {
    AtomicFolder ours(folder / "made");
    BOOST_TEST(ours.folder().filename() == own_name("made") + "-2");
    ours.commit();
  }
  BOOST_TEST(read_file(folder / "file") == "ours");
  BOOST_TEST(read_file(folder / own_name("file")) == "theirs");
  remove_leftovers_in(folder.path());
  BOOST_TEST(folder.entries() == 4);
  ::close(file);
  ::close(made);
  remove_leftovers_in(folder.path());
  BOOST_TEST(folder.entries() == 2);
}

BOOST_AUTO_TEST_CASE(what_a_process_of_the_same_number_left_is_in_nobodys_way) {
  const TempFolder folder;
  ::close(::open((folder / own_name("file")).c_str(), O_RDWR | O_CREAT, 0666));
  fs::create_directories(folder / own_name("made") / "inner");
  write_file_atomic(folder / "file", "ours");
  AtomicFolder ours(folder / "made");
  BOOST_TEST(ours.folder().filename() == own_name("made"));
  BOOST_TEST(fs::is_empty(ours.folder()));
  ours.commit();
  BOOST_TEST(folder.entries() == 2);
}

BOOST_AUTO_TEST_CASE(two_writers_of_one_name_do_not_meet) {
  const TempFolder folder;
  AtomicFile first(folder / "file"), second(folder / "file");
  first.write("first");
  second.write("second");
  first.commit();
  BOOST_TEST(read_file(folder / "file") == "first");
  second.commit();
  BOOST_TEST(read_file(folder / "file") == "second");
  BOOST_TEST(folder.entries() == 1);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
