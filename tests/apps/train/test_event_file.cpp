#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "apps/train/event_file.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/temp_folder.h"

using namespace farfield;
using namespace farfield::train;

namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

// Lengths and contents of the records; their codes are compared elsewhere.
std::vector<std::string> events_of(const std::string& file) {
  std::vector<std::string> events;
  for (size_t at = 0; at < file.size();) {
    const auto length = static_cast<size_t>(static_cast<unsigned char>(file.at(at))) +
                        256 * static_cast<size_t>(static_cast<unsigned char>(file.at(at + 1)));
    events.push_back(file.substr(at + 12, length));
    at += 12 + length + 4;
  }
  return events;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_event_file)

// The bytes that TensorFlow's own writer makes of the same records.
BOOST_AUTO_TEST_CASE(records_are_those_of_the_format) {
  const TempFolder scratch;
  EventFile file(scratch.path(), 0, 1.0);
  file.add_scalars(7, 1.0, {{"loss", 2.5F}});
  const std::string text = read_file(file.path());
  const std::string length_18 = bytes({0x18, 0, 0, 0, 0, 0, 0, 0}),
                    length_1a = bytes({0x1a, 0, 0, 0, 0, 0, 0, 0}),
                    time = bytes({0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f});
  const std::string version = length_18 + bytes({0xa3, 0x7f, 0x4b, 0x22}) + time +
                              bytes({0x1a, 0x0d}) + "brain.Event:2" +
                              bytes({0x86, 0xbf, 0x57, 0x7a});
  const std::string loss = length_1a + bytes({0x12, 0x9b, 0xd8, 0x2d}) + time +
                           bytes({0x10, 0x07, 0x2a, 0x0d, 0x0a, 0x0b, 0x0a, 0x04}) + "loss" +
                           bytes({0x15, 0, 0, 0x20, 0x40, 0x87, 0xcc, 0xc4, 0x3d});
  BOOST_TEST_REQUIRE(version.size() == 40u);
  BOOST_TEST_REQUIRE(loss.size() == 42u);
  BOOST_TEST(text.substr(0, version.size()) == version);
  BOOST_TEST(text.substr(text.size() - loss.size()) == loss);
  // Between them: the start of a session (7: status START) at step 0.
  const std::vector<std::string> events = events_of(text);
  BOOST_TEST_REQUIRE(events.size() == 3u);
  BOOST_TEST(events[1] == bytes({0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x10, 0, 0x3a, 2, 8, 1}));
}

BOOST_AUTO_TEST_CASE(a_picture_has_the_size_that_its_file_says) {
  const TempFolder scratch;
  EventFile file(scratch.path(), 0, 1.0);
  const std::string png = "\x89PNG\r\n\x1a\n" + bytes({0, 0, 0, 13}) + "IHDR" +
                          bytes({0, 0, 1, 44, 0, 0, 0, 200}) + "and so on";  // 300 x 200
  file.add_image(3, 1.0, "curve", png);
  const std::string event = events_of(read_file(file.path())).back();
  const std::string image =
      bytes({0x08, 0xc8, 1, 0x10, 0xac, 2, 0x18, 3, 0x22, static_cast<int>(png.size())}) + png;
  BOOST_TEST(event.substr(event.size() - image.size()) == image);
}

BOOST_AUTO_TEST_CASE(each_file_has_a_name_of_its_own) {
  const TempFolder scratch;
  BOOST_TEST(!EventFile::is_in(scratch.path()));
  const EventFile first(scratch.path(), 0, 1.8e9), second(scratch.path(), 5, 1.8e9);
  BOOST_TEST(EventFile::is_in(scratch.path()));
  BOOST_TEST(first.path() != second.path());
  BOOST_TEST(first.path().filename().string().starts_with("events.out.tfevents.1800000000."));
  BOOST_CHECK_THROW(EventFile("/nowhere/at/all", 0, 1), IoError);
  std::filesystem::remove(first.path());
  EventFile gone = first;
  BOOST_CHECK_THROW(gone.add_scalars(1, 1, {}), IoError);
}

BOOST_AUTO_TEST_SUITE_END()
