// Inputs that fuzzers found, and simple damage to a valid file, through every reader. The
// sanitizers detect errors.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <filesystem>
#include <set>

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "tests/fuzz/readers.h"
#include "tests/support/source_dir.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_fuzz_inputs)  // ctest: sanitize arm64:slow
namespace {

namespace fs = std::filesystem;

const std::vector<FuzzedReader>& fuzzed_readers() {
  static const std::vector<FuzzedReader> all = [] {
    std::vector<FuzzedReader> readers;
    for (const auto& list : {data_readers(), run_readers(), hub_readers(), sweep_readers()})
      readers.insert(readers.end(), list.begin(), list.end());
    return readers;
  }();
  return all;
}

BOOST_AUTO_TEST_CASE(what_was_found_once_is_refused_or_read) {
  for (const FuzzedReader& reader : fuzzed_readers()) {
    const fs::path folder = source_dir() / "tests/fuzz/inputs" / reader.name;
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      BOOST_TEST_CONTEXT(entry.path().string()) {
        BOOST_CHECK_NO_THROW(reader.read(read_file(entry.path())));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_folder_of_inputs_belongs_to_a_reader) {
  if (!fs::exists(source_dir() / "tests/fuzz/inputs")) return;
  for (const auto& entry : fs::directory_iterator(source_dir() / "tests/fuzz/inputs"))
    BOOST_TEST(std::any_of(fuzzed_readers().begin(), fuzzed_readers().end(),
                           [&](const auto& r) { return entry.path().filename() == r.name; }),
               entry.path().string());
}

BOOST_AUTO_TEST_CASE(a_sound_file_cut_or_with_a_number_replaced_does_no_harm) {
  constexpr uint64_t kNumbers[] = {0,          1,         0x7fffffff,        0x80000000,
                                   0xffffffff, INT64_MAX, uint64_t{1} << 63, UINT64_MAX};
  for (const FuzzedReader& reader : fuzzed_readers()) {
    BOOST_TEST_CONTEXT(reader.name) {
      const std::string sound = reader.sound();
      BOOST_TEST(!sound.empty());
      const size_t n = std::min<size_t>(sound.size(), 160);  // headers are at the beginning
      for (size_t at = 0; at < n; at += 1 + n / reader.n_places) {
        BOOST_CHECK_NO_THROW(reader.read(sound.substr(0, at)));
        for (const uint64_t number : kNumbers)
          for (const size_t size : {4, 8}) {
            if (at + size > sound.size()) continue;
            std::string damaged = sound;
            std::memcpy(damaged.data() + at, &number, size);
            BOOST_CHECK_NO_THROW(reader.read(damaged));
          }
      }
      BOOST_CHECK_NO_THROW(reader.read(sound));
    }
  }
}

// Damaged bytes are seldom JSON; these values reach the code behind the parser.
BOOST_AUTO_TEST_CASE(json_with_another_value_in_a_place_does_no_harm) {
  const char* const kValues[] = {"null", "-1", "1e64", "18446744073709551615", "\"x\"", "[]", "{}"};
  for (const FuzzedReader& reader : fuzzed_readers()) {
    const std::string sound = reader.sound();
    const bool has_lines = reader.name == "jsonl" || reader.name == "json_kind";
    if (!sound.starts_with('{') || has_lines) continue;
    const Json json = read_json({"test", reader.name, sound});
    const Json leaves = json.flatten();
    std::set<std::string> places;  // of values, and of what holds them
    for (const auto& leaf : leaves.items()) {
      if (places.size() >= reader.n_places) break;
      Json::json_pointer place(leaf.key());
      for (; !place.empty(); place.pop_back()) places.insert(place.to_string());
    }
    for (const std::string& place : places)
      for (const char* value : kValues) {
        Json damaged = json;
        damaged.at(Json::json_pointer(place)) = Json::parse(value);
        BOOST_TEST_CONTEXT(reader.name << ", " << place << " is " << value) {
          BOOST_CHECK_NO_THROW(reader.read(damaged.dump()));
        }
      }
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
