#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/input_file.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_input_file)
namespace {

// What a shell makes of <(printf ...): the read end of a pipe, named by its descriptor, that has
// been written to and closed.
class Substitution {
 public:
  explicit Substitution(const std::string& bytes) {
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    BOOST_TEST_REQUIRE(::write(ends[1], bytes.data(), bytes.size()) ==
                       static_cast<ssize_t>(bytes.size()));
    ::close(ends[1]);
    descriptor_ = ends[0];
  }
  ~Substitution() { ::close(descriptor_); }
  std::string path() const { return "/dev/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_ = -1;
};

BOOST_AUTO_TEST_CASE(a_pipe_is_read_to_its_end) {
  for (const std::string& bytes : {std::string(), std::string("text"), std::string(50'000, 'x')}) {
    BOOST_TEST(read_file(Substitution(bytes).path()) == bytes);
    const MappedFile mapped(Substitution(bytes).path());
    BOOST_TEST(std::string(reinterpret_cast<const char*>(mapped.bytes().data()),
                           mapped.bytes().size()) == bytes);
  }
  BOOST_TEST(read_file("/dev/null") == "");
}

BOOST_AUTO_TEST_CASE(a_pipe_is_waited_for_while_somebody_may_write) {
  const TempFolder folder;
  const std::string pipe = (folder / "pipe").string();
  BOOST_TEST_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] {
    ::usleep(200'000);  // after the reader
    const int descriptor = ::open(pipe.c_str(), O_WRONLY);
    for (const char* part : {"one ", "two"}) {
      BOOST_TEST(::write(descriptor, part, std::char_traits<char>::length(part)) > 0);
      ::usleep(200'000);
    }
    ::close(descriptor);
  });
  BOOST_TEST(read_file(pipe) == "one two");
  writer.join();
}

BOOST_AUTO_TEST_CASE(a_pipe_that_nobody_writes_to_is_an_error) {
  const TempFolder folder;
  const std::string pipe = (folder / "pipe").string();
  BOOST_TEST_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  BOOST_CHECK_EXCEPTION(read_file(pipe), IoError,
                        says(pipe + ": expected somebody to write to this pipe, got nobody"));
}

BOOST_AUTO_TEST_CASE(who_waits_may_stop) {
  const TempFolder folder;
  BOOST_TEST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  InputFile file(folder / "pipe");
  BOOST_TEST(file.is_stream());
  struct Stop {};
  char byte = 0;
  BOOST_CHECK_THROW(file.read(&byte, 1, [] { throw Stop(); }), Stop);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
