#include <boost/test/unit_test.hpp>
#include <fstream>

#include "data/read_ahead.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_read_ahead)  // ctest: threads
namespace {

struct Fixture {
  TempFolder folder;
  SourceOptions options() {
    SourceOptions o;
    o.inputs = {folder / "a.jsonl"};
    return o;
  }
  void put(int n, const std::string& end) {
    std::ofstream out(folder / "a.jsonl", std::ios::binary);
    for (int i = 0; i < n; ++i)
      out << "{\"text\":\"document " << i << std::string(static_cast<size_t>(i % 7) * 50, 'x')
          << "\"}\n";
    out << end;
  }
};

BOOST_FIXTURE_TEST_SUITE(read_ahead, Fixture)

BOOST_AUTO_TEST_CASE(documents_come_as_from_the_reader_itself) {
  put(20'000, "");
  ReadAhead ahead(options());
  DocumentReader reader(options());
  Document document;
  for (std::string want; reader.next(want);) {
    BOOST_REQUIRE(ahead.next(document, [] {}));
    if (document.take_text() != want) BOOST_ERROR("another document than " + want);
  }
  BOOST_TEST(!ahead.next(document, [] {}));
  BOOST_TEST(!ahead.next(document, [] {}));
  BOOST_TEST(ahead.reader().records()[0].hash == reader.records()[0].hash);
  BOOST_TEST(ahead.bytes_read() == ahead.bytes_total());
}

BOOST_AUTO_TEST_CASE(an_error_comes_behind_the_documents_before_it) {
  put(9000, "{\"text\":");
  ReadAhead ahead(options());
  Document document;
  int n = 0;
  const auto read = [&] {
    while (ahead.next(document, [] {})) ++n;
  };
  BOOST_CHECK_EXCEPTION(read(), IoError, says("line 9001"));
  BOOST_TEST(n == 9000);
  SourceOptions none = options();
  none.inputs = {folder / "none"};
  BOOST_CHECK_THROW(ReadAhead{none}, ConfigError);
}

BOOST_AUTO_TEST_CASE(it_can_be_left_at_any_time) {
  put(100'000, "");
  for (const int n : {0, 1, 5000}) {
    ReadAhead ahead(options());
    Document document;
    for (int i = 0; i < n; ++i) BOOST_TEST(ahead.next(document, [] {}));
  }
}

BOOST_AUTO_TEST_CASE(who_waits_for_input_that_does_not_come_is_asked_and_can_stop) {
  int ends[2];
  BOOST_REQUIRE(::pipe(ends) == 0);
  const int before = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  SourceOptions standard_input;
  standard_input.inputs = {"-"};
  {
    ReadAhead ahead(standard_input);
    Document document;
    BOOST_CHECK_THROW(ahead.next(document, [] { throw std::runtime_error("enough"); }),
                      std::runtime_error);
  }  // the thread ends, though nobody has written to the pipe
  ::dup2(before, STDIN_FILENO);
  for (const int fd : {before, ends[0], ends[1]}) ::close(fd);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
