#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/cells.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_cells)  // ctest: sanitize

using namespace farfield;
using namespace farfield::eval;
namespace fs = std::filesystem;

namespace {

const run::Settings kModel = {{"model", "0123"}, {"step", "600"}};

// What is measured, as the key of a cell has it.
struct Measured {
  std::string text = "hash/test", baseline = {};
  uint64_t seed = 5, draw = 0;
  run::Settings model = kModel;

  CellFiles files(const TempFolder& folder, CellFiles::Use use = {}) const {
    run::Settings key = model;
    key.emplace_back("text", text);
    key.emplace_back("baseline", baseline);
    key.emplace_back("seed", std::to_string(seed));
    return CellFiles(folder.path(), key, use);
  }
};

ProtocolResult protocol(const std::string& parameters = "segments=3") {
  ProtocolResult p;
  p.protocol = "last-token";
  p.parameters = parameters;
  p.starts = {7, 1, 4};
  return p;
}

LengthResult cell_at(int64_t length) {
  LengthResult c;
  c.length = length;
  return c;
}

LengthResult full_cell(int64_t length = 64) {
  LengthResult c = cell_at(length);
  c.n_scored = 3;
  c.items = {1.0 / 3, 0.1, 2e-17};
  c.places = {"4", "5-9 1-2", "7"};
  c.mean_nll = 0.1 + 0.2;
  c.nll_error = std::nan("");
  c.tokens = "feed";
  c.quantities = {{"erf", 12.5},
                  {"up", INFINITY, "h1"},
                  {"down", -INFINITY},
                  {"none", std::nan("")},
                  {"verdict", -1, "h2", "not_cpd"}};
  c.notes = {"layer 0: no bias by distance"};
  Series series;
  series.name = "perplexity";
  series.axis = "position (tokens)";
  series.x = {1, 2};
  series.y = {3.25, INFINITY};
  series.low = {3, std::nan("")};
  series.high = {4, -INFINITY};
  series.is_log_x = true;
  series.may_log_y = false;
  series.of = "h1";
  c.series = {series, series};
  c.series[1].is_drawn_alone = true;
  return c;
}

fs::path only_file(const TempFolder& folder) {
  BOOST_TEST_REQUIRE(folder.entries() == 1);
  return fs::directory_iterator(folder.path())->path();
}

bool finds(const TempFolder& folder, const Measured& m, const ProtocolResult& p, int64_t length,
           CellFiles::Use use = {}) {
  return m.files(folder, use).find(m.draw, p, length).has_value();
}

void keep(const TempFolder& folder, const LengthResult& cell) {
  Measured().files(folder).keep(0, protocol(), cell);
}

void same(const std::vector<double>& a, const std::vector<double>& b) {
  BOOST_TEST_REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i)
    BOOST_TEST((a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))));
}

void same_cell(const LengthResult& a, const LengthResult& b) {
  BOOST_TEST(a.length == b.length);
  BOOST_TEST(a.n_scored == b.n_scored);
  same(a.items, b.items);
  BOOST_TEST(a.places == b.places, boost::test_tools::per_element());
  same(std::vector<double>{a.mean_nll, a.nll_error}, {b.mean_nll, b.nll_error});
  BOOST_TEST(a.tokens == b.tokens);
  BOOST_TEST(a.notes == b.notes, boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(a.quantities.size() == b.quantities.size());
  for (size_t i = 0; i < a.quantities.size(); ++i) {
    BOOST_TEST(a.quantities[i].name == b.quantities[i].name);
    same(std::vector<double>{a.quantities[i].value}, {b.quantities[i].value});
    BOOST_TEST(a.quantities[i].of == b.quantities[i].of);
    BOOST_TEST(a.quantities[i].word == b.quantities[i].word);
  }
  BOOST_TEST_REQUIRE(a.series.size() == b.series.size());
  for (size_t i = 0; i < a.series.size(); ++i) {
    BOOST_TEST(a.series[i].name == b.series[i].name);
    BOOST_TEST(a.series[i].axis == b.series[i].axis);
    BOOST_TEST(a.series[i].is_log_x == b.series[i].is_log_x);
    BOOST_TEST(a.series[i].may_log_y == b.series[i].may_log_y);
    BOOST_TEST(a.series[i].of == b.series[i].of);
    BOOST_TEST(a.series[i].is_drawn_alone == b.series[i].is_drawn_alone);
    same(a.series[i].x, b.series[i].x);
    same(a.series[i].y, b.series[i].y);
    same(a.series[i].low, b.series[i].low);
    same(a.series[i].high, b.series[i].high);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_cell_comes_back_bit_for_bit_and_not_finite_numbers_too) {
  const TempFolder folder;
  keep(folder, full_cell());
  const auto found = Measured().files(folder).find(0, protocol(), 64);
  BOOST_TEST_REQUIRE(found.has_value());
  same_cell(*found, full_cell());

  const std::vector<KeptCell> all = read_cells(folder.path());
  BOOST_TEST_REQUIRE(all.size() == 1u);
  same_cell(all[0].result.lengths.at(0), full_cell());
  BOOST_TEST(all[0].result.starts == protocol().starts, boost::test_tools::per_element());
  BOOST_TEST(all[0].result.hash() == protocol().hash());
  BOOST_TEST(run::value_of(all[0].key, "model") == "0123");
  BOOST_TEST(run::value_of(all[0].key, "text") == "hash/test");
}

BOOST_AUTO_TEST_CASE(the_key_of_a_cell_is_that_of_before) {
  const TempFolder folder;
  keep(folder, full_cell());
  BOOST_TEST(only_file(folder).filename() == "last-token-64-1f5c64dd23467c03.json");
}

BOOST_AUTO_TEST_CASE(a_reader_of_all_cells_may_leave_damaged_ones_out) {
  const TempFolder folder;
  keep(folder, full_cell());
  write_file_atomic(folder / "last-token-9-0.json", "{}");
  std::vector<fs::path> damaged;
  BOOST_TEST(read_cells(folder.path(), "last-token", &damaged).size() == 1u);
  BOOST_TEST_REQUIRE(damaged.size() == 1u);
  BOOST_TEST(damaged[0].filename() == "last-token-9-0.json");
  BOOST_TEST(read_cells(folder.path(), "sliding").empty());  // the damaged one is none of these
}

BOOST_AUTO_TEST_CASE(a_cell_that_diverged_keeps_its_reason) {
  const TempFolder folder;
  LengthResult diverged = cell_at(64);
  set_failure(diverged, "nonfinite_logits", "[eval:last-token] nonfinite_logits: segment 2");
  keep(folder, diverged);
  const auto found = Measured().files(folder).find(0, protocol(), 64);
  BOOST_TEST_REQUIRE(found.has_value());
  BOOST_TEST(found->failure == diverged.failure);
  BOOST_TEST(found->message == diverged.message);
  BOOST_TEST(!found->has_perplexity());
}

BOOST_AUTO_TEST_CASE(everything_that_decides_a_number_is_in_the_key) {
  const TempFolder folder;
  keep(folder, full_cell());
  BOOST_TEST(finds(folder, {}, protocol(), 64));
  BOOST_TEST(!finds(folder, {}, protocol(), 65));
  BOOST_TEST(!finds(folder, {}, protocol("segments=4"), 64));
  ProtocolResult other = protocol();
  other.protocol = "sliding";
  BOOST_TEST(!finds(folder, {}, other, 64));
  for (const run::Settings& model :
       {run::Settings{{"model", "4567"}, {"step", "600"}}, {{"model", "0123"}, {"step", "601"}}})
    BOOST_TEST(!finds(folder, {.model = model}, protocol(), 64));
  BOOST_TEST(!finds(folder, {.text = "hash/valid"}, protocol(), 64));
  BOOST_TEST(!finds(folder, {.seed = 6}, protocol(), 64));
  BOOST_TEST(!finds(folder, {.draw = 1}, protocol(), 64));
  BOOST_TEST(!finds(folder, {.baseline = "masked@8"}, protocol(), 64));
}

BOOST_AUTO_TEST_CASE(a_file_of_another_key_is_not_taken_for_this_one) {
  const TempFolder folder, other;
  keep(folder, full_cell());
  const fs::path file = only_file(folder);
  Measured().files(other).keep(0, protocol("segments=9"), full_cell());
  fs::copy_file(only_file(other), file, fs::copy_options::overwrite_existing);
  BOOST_TEST(!finds(folder, {}, protocol(), 64));
}

BOOST_AUTO_TEST_CASE(a_damaged_file_is_measured_again_and_named_where_it_is_read) {
  const TempFolder folder;
  keep(folder, full_cell());
  const fs::path file = only_file(folder);
  const std::string whole = read_file(file);
  std::string flipped = whole;
  const size_t digit = flipped.find("12.5");
  flipped[digit] = '3';
  const std::vector<std::string> all = {
      flipped,
      whole.substr(0, whole.size() / 2),
      "",
      "[]",
      "{\"hash\": 1}",
      "{\"hash\": \"0\"}",
      std::string(100'000, '['),
      "{\"hash\": \"0\", \"x\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}"};
  for (const std::string& damaged : all) {
    write_file_atomic(file, damaged);
    BOOST_TEST(!finds(folder, {}, protocol(), 64));
    BOOST_CHECK_EXCEPTION(read_cells(folder.path()), IoError,
                          says("[eval] " + file.string(), "damaged: remove it and measure again"));
  }
  keep(folder, full_cell());
  BOOST_TEST(read_file(file) == whole);
  BOOST_TEST(finds(folder, {}, protocol(), 64));
}

BOOST_AUTO_TEST_CASE(again_finds_nothing_and_replaces_what_is_there) {
  const TempFolder folder;
  keep(folder, full_cell());
  BOOST_TEST(!finds(folder, {}, protocol(), 64, {.find = false}));
  LengthResult other = full_cell();
  other.items[0] = 9;
  Measured().files(folder, {.find = false}).keep(0, protocol(), other);
  same_cell(read_cells(folder.path()).at(0).result.lengths.at(0), other);
}

BOOST_AUTO_TEST_CASE(all_cells_are_read_in_the_order_of_their_names) {
  const TempFolder folder;
  BOOST_TEST(read_cells(folder / "none").empty());
  for (const int64_t length : {64, 128, 32}) keep(folder, full_cell(length));
  write_file_atomic(folder / "note.txt", "not a cell");
  std::vector<int64_t> lengths;
  for (const KeptCell& cell : read_cells(folder.path()))
    lengths.push_back(cell.result.lengths.at(0).length);
  BOOST_TEST(lengths == (std::vector<int64_t>{128, 32, 64}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
