// `inspect batches` against the order of data/README.md written down once more, from its words.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>

#include "apps/cli/csv.h"
#include "apps/cli/options.h"
#include "apps/inspect/commands.h"
#include "apps/run/checkpoint.h"
#include "apps/train/training_run.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "tests/apps/toy_run.h"
#include "tests/support/messages.h"
#include "tests/support/working_folder.h"

namespace farfield::inspect {
BOOST_AUTO_TEST_SUITE(test_batches)
namespace {

namespace fs = std::filesystem;
using test::toy;
using Table = std::vector<std::vector<std::string>>;

// Philox4x32-10, first word, after the paper: Salmon et al. 2011.
uint32_t first_word(uint64_t seed, uint64_t stream, uint64_t index) {
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                               static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)};
  auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int i = 0; i < 10; ++i, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
  }
  return c[0];
}

constexpr uint64_t kWindowOrder = 0x2A7B50821350D0A6;

// The window at a place of an epoch.
uint64_t window_at(uint64_t place, uint64_t n_windows, uint64_t seed, uint64_t epoch) {
  int h = 1;
  while ((uint64_t{1} << (2 * h)) < n_windows) ++h;
  const uint64_t mask = (uint64_t{1} << h) - 1;
  uint64_t x = place;
  do {
    uint64_t left = x >> h, right = x & mask;
    for (uint64_t round = 0; round < 8; ++round) {
      const uint64_t f = first_word(seed, kWindowOrder + epoch, (round << 32) + right);
      const uint64_t old_left = left;
      left = right;
      right = old_left ^ (f & mask);
    }
    x = (left << h) + right;
  } while (x >= n_windows);
  return x;
}

std::string inspect_text(std::vector<std::string> words) {
  words.insert(words.begin(), {"inspect", "batches"});
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out;
  BOOST_TEST(inspect(static_cast<int>(argv.size()), argv.data(), out) == cli::kDone);
  return out.str();
}

Table batches(std::vector<std::string> words) {
  words.push_back("--csv");
  return cli::parse_csv("inspect", inspect_text(words));
}

// A run that is started, with steps through three epochs.
std::string started(const std::string& name, int64_t accumulate, uint64_t seed,
                    const std::string& deterministic_reduce = "on") {
  run::RunConfig config = toy().config("none");
  config.accumulate = accumulate;
  config.deterministic_reduce = deterministic_reduce;
  config.seed = seed;
  config.steps = 900;
  const std::string path = toy().path(name);
  train::TrainingRun::start(run::resolve(config), path);
  return path;
}

const std::string& plain() {
  static const std::string path = started("plain", 1, 7);
  return path;
}

BOOST_AUTO_TEST_CASE(the_stream_has_the_number_that_is_documented) {
  BOOST_TEST(hash64("window order") == kWindowOrder);
}

BOOST_AUTO_TEST_CASE(windows_and_tokens_are_those_of_the_documented_order) {
  constexpr uint64_t kBatch = 4, kLength = 16;
  const std::string file = read_file(fs::path(toy().data) / "train.tokens");
  const uint64_t n_tokens = (file.size() - 64) / 2, n_windows = (n_tokens - 1) / kLength;
  const auto token = [&](uint64_t i) {
    uint16_t id = 0;
    std::memcpy(&id, file.data() + 64 + 2 * i, 2);
    return id;
  };
  const std::pair<std::string, uint64_t> runs[] = {
      {plain(), 7}, {started("large_seed", 1, 0xFEDCBA9876543210), 0xFEDCBA9876543210}};
  std::set<uint64_t> epochs;
  for (const auto& [run, seed] : runs)
    for (const uint64_t step : {1, 2, 8, 333, 617, 900}) {
      const Table table = batches({run, "--step", std::to_string(step)});
      BOOST_TEST(table.size() == kBatch + 1);
      for (uint64_t row = 0; row < kBatch; ++row) {
        const uint64_t sequence = (step - 1) * kBatch + row, epoch = sequence / n_windows;
        const uint64_t window = window_at(sequence % n_windows, n_windows, seed, epoch);
        std::string tokens;
        uint64_t n_documents = 0;
        for (uint64_t i = 0; i <= kLength; ++i)
          tokens += (i > 0 ? " " : "") + std::to_string(token(window * kLength + i));
        for (uint64_t i = 0; i < window * kLength; ++i) n_documents += token(i) == 256;
        std::vector<std::string> want;
        for (const uint64_t value : {step, row, row, step - 1, epoch, sequence % n_windows, window,
                                     window * kLength, 64 + 2 * window * kLength, n_documents})
          want.push_back(std::to_string(value));
        want.push_back(tokens);
        BOOST_TEST(table[row + 1] == want, boost::test_tools::per_element());
        epochs.insert(epoch);
      }
    }
  BOOST_TEST(epochs.size() >= 3u);
}

BOOST_AUTO_TEST_CASE(training_reads_what_is_printed) {
  run::RunConfig config = toy().config("none");
  config.seed = 7;
  config.steps = 900;
  const data::Corpus corpus = data::Corpus::open(toy().data);
  const data::Loader loader(corpus.split("train"), 4, 16, 7);
  const Table table = batches({plain(), "--step", "3"});
  const data::Batch batch = loader.batch(2);
  for (size_t row = 0; row < 4; ++row) {
    std::istringstream ids(table[row + 1].back());
    int32_t id = 0;
    for (size_t i = 0; ids >> id; ++i) {
      if (i < 16) BOOST_TEST(id == batch.inputs[row * 16 + i]);
      if (i > 0) BOOST_TEST(id == batch.targets[row * 16 + i - 1]);
    }
  }
}

BOOST_AUTO_TEST_CASE(pieces_are_rows_one_after_another_of_one_draw) {
  const Table whole = batches({plain(), "--step", "5"});
  const Table pieces = batches({started("pieces", 2, 7, "off"), "--step", "5"});
  BOOST_TEST_REQUIRE(pieces.size() == 5u);
  for (size_t row = 1; row <= 4; ++row) {
    BOOST_TEST(pieces[row][1] == (row <= 2 ? "0" : "1"));
    for (const size_t same : {2, 3, 4, 5, 6, 7, 8, 9, 10})
      BOOST_TEST(pieces[row][same] == whole[row][same]);
  }
}

BOOST_AUTO_TEST_CASE(the_text_is_for_people) {
  const auto hash_of = [](const std::string& text) {
    return text.find(" windows an epoch, hash ");
  };
  const std::string text = inspect_text({"--run", plain(), "--step", "2"});
  for (const std::string part :
       {"step 2 of 900: 4 sequences of 16 inputs and as many targets, seed 7",
        "train.tokens: ", " windows an epoch\n", "piece", "document", "\""})
    BOOST_TEST(text.find(part) != std::string::npos, part << " in\n" << text);
  BOOST_TEST(text.find("left out") == std::string::npos);
  BOOST_TEST(hash_of(text) == std::string::npos);
  BOOST_TEST(hash_of(inspect_text({plain(), "--step", "2", "--verbose"})) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_step_that_was_left_out_is_said_to_be) {
  const std::string run = started("skipped", 1, 7);
  const fs::path folder = fs::path(run) / "checkpoints";
  run::Checkpoint checkpoint = run::load_newest_checkpoint(folder);
  checkpoint.state.skipped = {4};
  run::save_checkpoint(folder, checkpoint.state, {checkpoint.model.begin(), checkpoint.model.end()},
                       {checkpoint.optimizer.begin(), checkpoint.optimizer.end()}, {.last = 1});
  const auto says_so = [&](const std::string& step) {
    return inspect_text({run, "--step", step}).find("left out of the training") !=
           std::string::npos;
  };
  BOOST_TEST(says_so("4"));
  BOOST_TEST(!says_so("5"));
}

BOOST_AUTO_TEST_CASE(it_works_from_another_folder) {
  const std::string here = inspect_text({plain(), "--step", "2", "--csv"});
  const fs::path run = fs::canonical(plain());
  const WorkingFolder root("/");
  BOOST_TEST(inspect_text({run.string(), "--step", "2", "--csv"}) == here);
}

BOOST_AUTO_TEST_CASE(bad_requests_say_what_to_do) {
  const auto refused = [](std::vector<std::string> words, const std::string& message) {
    words.insert(words.begin(), {"inspect", "batches"});
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    std::ostringstream out;
    BOOST_CHECK_EXCEPTION(inspect(static_cast<int>(argv.size()), argv.data(), out), ConfigError,
                          says(message));
  };
  refused({}, "expected the folder of a run, got none; inspect batches RUN --step N");
  refused({plain()}, "--step: expected a step of the run, got none");
  for (const std::string step : {"0", "-1", "901"})
    refused({plain(), "--step", step}, "--step: expected a step from 1 to 900, got " + step);
  const test::ToyRun other(2);
  std::ostringstream out;
  const char* argv[] = {"inspect", "batches", plain().c_str(),   "--step",
                        "1",       "--data",  other.data.c_str()};
  BOOST_CHECK_EXCEPTION(inspect(7, argv, out), IoError,
                        says("expected the data that ", "got other data", "--data"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::inspect
