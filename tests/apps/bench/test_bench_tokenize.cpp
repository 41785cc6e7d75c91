#include <boost/test/unit_test.hpp>
#include <sstream>

#include "apps/bench/commands.h"
#include "apps/bench/peer.h"
#include "apps/cli/csv.h"
#include "apps/cli/options.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::bench {
BOOST_AUTO_TEST_SUITE(test_bench_tokenize)
namespace {

BOOST_AUTO_TEST_CASE(a_tokenizer_is_measured_beside_a_peer) {
  const TempFolder folder;
  const std::string text = (folder / "text.txt").string(), csv = (folder / "t.csv").string();
  write_file_atomic(text, std::string(100000, 'x'));
  const int before = thread_count();
  const std::vector<const char*> words = {
      "bench", "tokenize",  "--input", text.c_str(), "--rounds",
      "2",     "--threads", "2",       "--peer",     "printf '1.5\\n2.5\\n' #",
      "--csv", csv.c_str()};
  std::ostringstream out;
  BOOST_TEST(bench(static_cast<int>(words.size()), words.data(), out) == cli::kDone);
  set_thread_count(before);
  BOOST_TEST(out.str().find("1 documents, 0.1 MB, 100000 tokens of 257, 1.000 bytes per token") !=
             std::string::npos);
  const auto rows = cli::parse_csv(csv, read_file(csv));
  BOOST_TEST_REQUIRE(rows.size() == 5u);
  BOOST_TEST(rows[1][0] == "encode");
  BOOST_TEST(rows[1][1] == "1");
  BOOST_TEST(std::stod(rows[1][6]) > 1);
  BOOST_TEST(rows[2][1] == "2");
  BOOST_TEST(rows[3][0] == "decode");
  BOOST_TEST(rows[4][0] == "peer");
  BOOST_TEST(rows[4][2] == "0.1");  // 0.1 MB in 2 s, to one place
}

BOOST_AUTO_TEST_CASE(a_peer_gets_the_texts_and_its_failure_is_told) {
  const TempFolder folder;
  const std::string copy = (folder / "copy").string();
  const analysis::Samples samples =
      run_peer("f() { cp \"$1\" " + copy + "; echo 3; echo 1; }; f", {"a\n\"b\"", "c"}, 2);
  BOOST_TEST(samples.median() == 2);
  BOOST_TEST(read_file(copy) == "{\"text\": \"a\\n\\\"b\\\"\"}\n{\"text\": \"c\"}\n");
  BOOST_CHECK_EXCEPTION(run_peer("false", {"a"}, 1), IoError, says("to succeed, got status"));
  BOOST_CHECK_EXCEPTION(run_peer("echo 1 #", {"a"}, 2), IoError,
                        says("expected 2 numbers of seconds, got '1"));
  BOOST_CHECK_EXCEPTION(run_peer("echo fast #", {"a"}, 1), IoError, says("got 'fast"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::bench
