#include <boost/test/unit_test.hpp>

#include "apps/train/metrics.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_metrics)

using namespace farfield;
using namespace farfield::train;

namespace {

struct Fixture {
  TempFolder folder;
  std::filesystem::path path = folder / "metrics.csv";
  Fixture() { write_file_atomic(path, MetricsFile::header()); }
};

Metrics row(int64_t step) {
  return {.step = step,
          .tokens = step * 128,
          .loss = 0.1,
          .valid_loss = {},
          .lr = 1e-3,
          .grad_norm = 2,
          .tokens_per_s = 5e4,
          .time_s = 0.5,
          .wait_share = 0.01,
          .saves = {.n = 1, .waited_s = 0.125, .write_s = 2, .bytes = 3 << 19},
          .sum_wait_share = 0.03};
}
constexpr int64_t kRowBytes = 62;

}  // namespace

BOOST_FIXTURE_TEST_CASE(rows_are_appended_in_the_shortest_form, Fixture) {
  MetricsFile file(path, 0);
  file.append(row(1));
  Metrics second = row(2);
  second.valid_loss = 1.0 / 3;
  file.append(second);
  BOOST_TEST(read_file(path) ==
             "step,tokens,loss,valid_loss,lr,grad_norm,tokens_per_s,time_s,wait_share,save_wait_s,"
             "save_s,save_mib,sum_wait_share\n"
             "1,128,0.1,,0.001,2,50000,0.5,0.0100,0.1250,2.0000,1.50,0.0300\n"
             "2,256,0.1,0.3333333333333333,0.001,2,50000,0.5,0.0100,0.1250,2.0000,1.50,0.0300\n");
}

BOOST_FIXTURE_TEST_CASE(a_run_that_began_without_a_column_goes_on_without_it, Fixture) {
  const std::string first = "step,tokens,loss,valid_loss,lr,grad_norm,tokens_per_s,time_s";
  for (const auto& [column, value] :
       std::vector<std::pair<std::string, std::string>>{{"", ""}, {",wait_share", ",0.0100"}}) {
    const std::string old = first + column + "\n1,128,0.1,,0.001,2,50000,0.5" + value + '\n';
    for (const run::FileRecord& record :
         {run::FileRecord{}, {static_cast<int64_t>(old.size()), hash_hex(old)}}) {
      write_file_atomic(path, old);
      MetricsFile(path, 1, record).append(row(2));
      BOOST_TEST(read_file(path) == old + "2,256,0.1,,0.001,2,50000,0.5" + value + '\n');
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_resumed_run_drops_later_and_half_written_rows, Fixture) {
  {
    MetricsFile file(path, 0);
    for (int64_t step = 1; step <= 4; ++step) file.append(row(step));
  }
  write_file_atomic(path, read_file(path) + "2,25");
  MetricsFile file(path, 2);
  file.append(row(3));
  const std::string text = read_file(path);
  BOOST_TEST(text.size() == MetricsFile::header().size() + 3 * size_t{kRowBytes});
  BOOST_TEST(text.find("\n4,") == std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_full_disk_is_an_error_and_cuts_no_row_in_half, Fixture) {
  MetricsFile file(path, 0);
  file.append(row(1));
  const std::string before = read_file(path);
  {
    const FileSizeLimit full(before.size() + 5);
    BOOST_CHECK_EXCEPTION(file.append(row(2)), IoError, says("metrics.csv: cannot write"));
  }
  BOOST_TEST(read_file(path) == before);
}

BOOST_FIXTURE_TEST_CASE(another_file_is_not_taken_for_metrics, Fixture) {
  write_file_atomic(path, "a,b\n1,2\n");
  BOOST_CHECK_EXCEPTION(MetricsFile(path, 0), IoError, says("expected the header step,tokens,"));
  BOOST_TEST(read_file(path) == "a,b\n1,2\n");
}

BOOST_FIXTURE_TEST_CASE(rows_that_a_checkpoint_recorded_are_held_to_it, Fixture) {
  run::FileRecord record;
  {
    MetricsFile file(path, 0, MetricsFile::empty_record());
    for (int64_t step = 1; step <= 4; ++step) {
      file.append(row(step));
      if (step == 2) record = file.record();
    }
  }
  const std::string all = read_file(path);
  BOOST_TEST(record.bytes == static_cast<int64_t>(MetricsFile::header().size()) + 2 * kRowBytes);
  {
    MetricsFile file(path, 2, record);  // drops steps 3 and 4
    BOOST_TEST(read_file(path) == all.substr(0, static_cast<size_t>(record.bytes)));
    BOOST_TEST(file.record().hash == record.hash);
  }
  // Any byte of it, in the header or in a row; a row that is gone.
  for (size_t at = 0; at < static_cast<size_t>(record.bytes); at += 7) {
    std::string damaged = all;
    damaged[at] = damaged[at] == '8' ? '9' : '8';
    write_file_atomic(path, damaged);
    BOOST_CHECK_EXCEPTION(
        MetricsFile(path, 2, record), IoError,
        says("[metrics] " + path.string() + ": expected ", " bytes with the hash " + record.hash,
             "the file is damaged: put a copy of it back, or move "
             "it away"));
    BOOST_TEST(read_file(path) == damaged);
  }
  write_file_atomic(path, all.substr(0, static_cast<size_t>(record.bytes - kRowBytes)));
  BOOST_CHECK_THROW(MetricsFile(path, 2, record), IoError);
  // What came after the checkpoint is dropped, damaged or not.
  write_file_atomic(path, all.substr(0, static_cast<size_t>(record.bytes)) + "\xff 3,,,\n");
  BOOST_CHECK_NO_THROW(MetricsFile(path, 2, record));
  BOOST_TEST(read_file(path) == all.substr(0, static_cast<size_t>(record.bytes)));
}

BOOST_FIXTURE_TEST_CASE(a_file_moved_away_begins_anew, Fixture) {
  BOOST_TEST(!MetricsFile(path, 0).is_new());
  std::filesystem::remove(path);
  MetricsFile file(path, 2, {40, std::string(32, 'a')});
  BOOST_TEST(file.is_new());
  file.append(row(3));
  BOOST_TEST(read_file(path).size() == MetricsFile::header().size() + size_t{kRowBytes});
  BOOST_CHECK_NO_THROW(MetricsFile(path, 3, file.record()));
}

BOOST_AUTO_TEST_SUITE_END()
