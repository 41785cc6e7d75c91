#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "apps/run/state.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_train_state)  // ctest: sanitize

using namespace farfield;
using namespace farfield::run;
using nlohmann::ordered_json;

namespace {

const std::string kHash(32, 'a');
const std::map<std::string, FileRecord> kFiles = {{"model.safetensors", {1000, kHash}}};

TrainState state() {
  return {.step = 6,
          .tokens = 6 * 4096,
          .optimizer_t = 4,
          .time_s = 1.25,
          .skipped = {3, 5, 8},
          .data_hash = kHash,
          .config = {{"posenc", "alibi"}, {"steps", "10"}},
          .metrics = {77, kHash}};
}

struct Fixture {
  TempFolder folder;
  std::filesystem::path path = folder / "state.json";

  // Forges state.json: changes a member and puts the right hash behind it.
  template <class Change>
  void forge(const Change& change) {
    ordered_json json = ordered_json::parse(train_state_text(state(), kFiles));
    json.erase("hash");
    change(json);
    json["hash"] = hash_hex(json.dump());
    write_file_atomic(path, json.dump());
  }
  template <class Change>
  void refused(const Change& change, const std::string& message) {
    forge(change);
    BOOST_CHECK_EXCEPTION(read_train_state(path), IoError,
                          says("[checkpoint] " + path.string() + ": ", message));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_state_reads_back, Fixture) {
  write_file_atomic(path, train_state_text(state(), kFiles));
  const StateFile got = read_train_state(path);
  BOOST_TEST(got.state.step == 6);
  BOOST_TEST(got.state.tokens == 6 * 4096);
  BOOST_TEST(got.state.optimizer_t == 4);
  BOOST_TEST(got.state.time_s == 1.25);
  BOOST_TEST(got.state.skipped == state().skipped, boost::test_tools::per_element());
  BOOST_TEST(got.state.data_hash == kHash);
  BOOST_CHECK(got.state.config == state().config);
  BOOST_TEST(got.state.metrics.bytes == 77);
  BOOST_TEST(got.state.metrics.hash == kHash);
  BOOST_TEST(got.files.at("model.safetensors").bytes == 1000);
  BOOST_TEST(got.files.at("model.safetensors").hash == kHash);
}

// What the program wrote before it recorded metrics.csv: bytes that it must go on reading.
BOOST_FIXTURE_TEST_CASE(a_state_of_before_has_no_record_of_metrics, Fixture) {
  const std::string before =
      R"({"format":1,"step":6,"tokens":24576,"optimizer_t":4,"time_s":1.25,"skipped":[3,5,8],)"
      R"("data_hash":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","config":{"posenc":"alibi","steps":"10"},)"
      R"("files":{"model.safetensors":{"bytes":1000,)"
      R"("xxh3_128":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}})";
  write_file_atomic(path, before + R"(,"hash":")" + hash_hex(before + "}") + "\"}");
  const StateFile got = read_train_state(path);
  BOOST_TEST(got.state.step == 6);
  BOOST_TEST(got.state.metrics.hash == "");
}

BOOST_FIXTURE_TEST_CASE(counts_are_whole_numbers_within_their_bounds, Fixture) {
  const char* expected = "expected a whole number from 0 to ";
  for (const ordered_json& bad : {ordered_json(int64_t{1} << 62), ordered_json(11)})
    refused([&](ordered_json& j) { j["step"] = bad; },
            expected + ("10 as 'step', got " + bad.dump()));
  for (const ordered_json& bad :
       {ordered_json(-1), ordered_json(4.7), ordered_json(4.0), ordered_json("4"),
        ordered_json(true), ordered_json(), ordered_json(INT64_MIN), ordered_json(UINT64_MAX),
        ordered_json(1e300), ordered_json::array({4})}) {
    refused([&](ordered_json& j) { j["step"] = bad; },
            expected + ("10 as 'step', got " + bad.dump()));
    refused([&](ordered_json& j) { j["tokens"] = bad; },
            expected + ("9007199254740992 as 'tokens', got " + bad.dump()));
    refused([&](ordered_json& j) { j["optimizer_t"] = bad; },
            expected + ("6 as 'optimizer_t', got " + bad.dump()));
    refused([&](ordered_json& j) { j["files"]["model.safetensors"]["bytes"] = bad; },
            expected + ("9007199254740992 as 'files.model.safetensors.bytes', got " + bad.dump()));
    refused([&](ordered_json& j) { j["metrics"]["bytes"] = bad; }, "as 'metrics.bytes', got ");
    refused([&](ordered_json& j) { j["skipped"][1] = bad; },
            "expected a whole number from 1 to 10 as 'skipped', got " + bad.dump());
  }
  refused([](ordered_json& j) { j["optimizer_t"] = 7; }, "from 0 to 6 as 'optimizer_t', got 7");
  refused([](ordered_json& j) { j["skipped"][1] = 11; }, "from 1 to 10 as 'skipped', got 11");
  refused([](ordered_json& j) { j["config"].erase("steps"), j["step"] = int64_t{1} << 62; },
          "from 0 to 9007199254740992 as 'step', got 4611686018427387904");
  refused([](ordered_json& j) { j["time_s"] = -0.5; },
          "expected a number from 0 on as 'time_s', got -0.5");
  refused([](ordered_json& j) { j["format"] = 2; }, "expected format 1, got 2");
  refused([](ordered_json& j) { j["step"] = std::string(500, 'x'); },
          "xxx...; the file was changed");
}

BOOST_FIXTURE_TEST_CASE(hashes_have_32_digits, Fixture) {
  for (const std::string& bad : {std::string(), std::string("abc"), std::string(33, 'a'),
                                 std::string(32, 'A'), std::string(31, 'a') + "g"}) {
    const std::string got = "', got " + ordered_json(bad).dump();
    const std::string expected = "expected a hash of 32 hexadecimal digits as '";
    refused([&](ordered_json& j) { j["data_hash"] = bad; }, expected + "data_hash" + got);
    refused([&](ordered_json& j) { j["files"]["model.safetensors"]["xxh3_128"] = bad; },
            expected + "files.model.safetensors.xxh3_128" + got);
    refused([&](ordered_json& j) { j["metrics"]["xxh3_128"] = bad; },
            expected + "metrics.xxh3_128" + got);
  }
  refused([](ordered_json& j) { j["data_hash"] = 7; }, "expected text as 'data_hash', got 7");
}

BOOST_FIXTURE_TEST_CASE(members_of_other_types_and_missing_ones_are_named, Fixture) {
  for (const char* name : {"format", "step", "tokens", "optimizer_t", "time_s", "skipped",
                           "data_hash", "config", "files"})
    refused([&](ordered_json& j) { j.erase(name); },
            std::string("expected a member '") + name + "', got none");
  refused([](ordered_json& j) { j["files"]["model.safetensors"] = 1; },
          "expected an object as 'files.model.safetensors', got 1");
  refused([](ordered_json& j) { j["skipped"] = 1; }, "expected a list as 'skipped', got 1");
  refused([](ordered_json& j) { j["config"]["posenc"] = 1; },
          "expected text as 'config.posenc', got 1");
  refused([](ordered_json& j) { j["config"]["lr"] = "fast"; },
          "expected the settings of a run as 'config': ");
  refused([](ordered_json& j) { j["config"]["wings"] = "2"; }, "unknown option 'wings'");
}

BOOST_FIXTURE_TEST_CASE(damaged_or_nested_text_is_refused, Fixture) {
  std::string text = train_state_text(state(), kFiles);
  for (size_t size = 0; size + 2 < text.size(); size += 7) {
    write_file_atomic(path, text.substr(0, size));
    BOOST_CHECK_EXCEPTION(read_train_state(path), IoError, says(path.string()));
  }
  text.replace(text.find("24576"), 5, "24577");
  write_file_atomic(path, text);
  BOOST_CHECK_EXCEPTION(read_train_state(path), IoError,
                        says(path.string(), ": expected the hash "));
  for (const char* begin : {"[", "{\"hash\":\"x\",\"a\":["}) {
    write_file_atomic(path, begin + std::string(100'000, '['));
    BOOST_CHECK_EXCEPTION(read_train_state(path), IoError,
                          says(path.string(), "expected JSON with at most 32 brackets"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
