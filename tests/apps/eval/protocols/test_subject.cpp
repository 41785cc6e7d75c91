#include <boost/test/unit_test.hpp>
#include <map>

#include "apps/eval/protocols/last_token.h"
#include "apps/eval/subject.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

BOOST_AUTO_TEST_SUITE(test_subject)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {

using Batches = std::vector<std::pair<int64_t, int64_t>>;

CommonOptions batches_of(int64_t tokens) {
  CommonOptions common;
  common.batch_tokens = tokens;
  return common;
}

// Runs in_batches() over 10 items of 4 tokens; batches beyond `most` items fail with `refuse`.
template <class F>
Batches passes(int64_t batch_tokens, int64_t most, const F& refuse) {
  Batches done;
  in_batches(10, 4, batches_of(batch_tokens), [&](int64_t first, int64_t n) {
    if (n > most) refuse();
    done.emplace_back(first, n);
  });
  return done;
}

[[noreturn]] void no_host_memory() { throw std::bad_alloc(); }
[[noreturn]] void no_device_memory() { fail<BackendError>("memory", "expected 4 GiB, got none"); }

// Last-token results of `model`, and the lengths of the rows that it was asked for.
ProtocolResult measure(const Scorer& model, const TempFolder& store, std::vector<int64_t> lengths,
                       std::vector<int64_t>& asked) {
  Scorer counted = model;
  counted.score = [&](const Scorer::Ids& ids, const Scorer::Ids& targets, int64_t batch) {
    asked.push_back(static_cast<int64_t>(ids.size()) / batch + 1);
    return model.score(ids, targets, batch);
  };
  Subject s = subject(counted, toy_text(5000));
  s.session.cells.emplace(store.path(), run::Settings(), CellFiles::Use());
  CommonOptions common;
  common.lengths = std::move(lengths);
  LastTokenOptions own;
  own.segments = 4;
  return last_token(s, common, own);
}

}  // namespace

BOOST_AUTO_TEST_CASE(batches_are_as_large_as_the_tokens_allow) {
  const auto never = [] { BOOST_FAIL("refused"); };
  BOOST_CHECK((passes(16, 10, never) == Batches{{0, 4}, {4, 4}, {8, 2}}));
  BOOST_CHECK((passes(19, 10, never) == Batches{{0, 4}, {4, 4}, {8, 2}}));
  BOOST_CHECK((passes(1000, 10, never) == Batches{{0, 10}}));
  BOOST_TEST(passes(1, 10, never).size() == 10u);
}

BOOST_AUTO_TEST_CASE(a_batch_without_memory_is_halved_and_stays_small) {
  // 8 fail, 4 fail, 2 go; the items that failed come again
  const Batches want = {{0, 2}, {2, 2}, {4, 2}, {6, 2}, {8, 2}};
  BOOST_CHECK(passes(32, 3, no_host_memory) == want);
  BOOST_CHECK(passes(32, 3, no_device_memory) == want);
}

BOOST_AUTO_TEST_CASE(one_item_without_memory_and_other_errors_pass_through) {
  BOOST_CHECK_THROW(passes(32, 0, no_host_memory), std::bad_alloc);
  BOOST_CHECK_THROW(passes(32, 0, no_device_memory), BackendError);
  int n_calls = 0;
  BOOST_CHECK_THROW(passes(32, 3,
                           [&] {
                             ++n_calls;
                             fail<BackendError>("gemm", "broken");
                           }),
                    BackendError);
  BOOST_TEST(n_calls == 1);
}

BOOST_AUTO_TEST_CASE(kept_cells_are_not_measured_again) {
  const TempFolder store;
  std::vector<int64_t> first, second, third;
  const ProtocolResult fresh = measure(windowed_model(4), store, {8, 16}, first);
  BOOST_TEST(first == (std::vector<int64_t>{8, 16}), boost::test_tools::per_element());
  const ProtocolResult kept = measure(uniform_model(), store, {8, 16}, second);
  BOOST_TEST(second.empty());
  for (const size_t at : {0u, 1u})
    BOOST_TEST(kept.lengths[at].items == fresh.lengths[at].items, boost::test_tools::per_element());
  measure(windowed_model(4), store, {8, 12, 16}, third);
  BOOST_TEST(third == std::vector<int64_t>{12}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(failures_that_would_come_again_are_kept_and_others_are_not) {
  const TempFolder store;
  std::vector<int64_t> asked;
  measure(failing_model(), store, {8, 16, 32, 64}, asked);
  std::map<int64_t, std::string> failures;
  for (const KeptCell& kept : read_cells(store.path()))
    failures[kept.result.lengths.at(0).length] = kept.result.lengths.at(0).failure;
  BOOST_TEST((failures == std::map<int64_t, std::string>{{8, ""}, {16, "nonfinite_logits"}}));
  asked.clear();
  const ProtocolResult again = measure(uniform_model(), store, {8, 16, 32, 64}, asked);
  BOOST_TEST(asked == (std::vector<int64_t>{32, 64}), boost::test_tools::per_element());
  BOOST_TEST(again.lengths[1].failure == "nonfinite_logits");
}

BOOST_AUTO_TEST_CASE(only_positions_without_values_fail_their_cell_other_bad_requests_end_it) {
  LengthResult cell;
  measure_cell(cell, "x", [](LengthResult&) { fail<posenc::PositionError>("posenc", "too far"); });
  BOOST_TEST(cell.failure == "position_out_of_range");
  BOOST_TEST(cell.message == "[eval:x] position_out_of_range: posenc: too far");
  const auto ends_with = [](const std::string& where, const std::string& text,
                            const std::string& message) {
    LengthResult other;
    BOOST_CHECK_EXCEPTION(
        measure_cell(other, "x", [&](LengthResult&) { fail<ConfigError>(where, text); }),
        ConfigError, says_exactly(message));
  };
  ends_with("posenc", "rope(base): expected another",  // a name is no code
            "[eval:x] bad_argument: posenc: rope(base): expected another");
  for (const char* code : {"bad_argument", "bad_stride", "length_too_short"})
    ends_with("curve", concat(code, ": expected more"),
              concat("[curve] ", code, ": expected more"));
}

BOOST_AUTO_TEST_CASE(errors_of_the_data_end_the_measurement) {
  LengthResult cell;
  BOOST_CHECK_THROW(measure_cell(cell, "x", [](LengthResult&) { fail<IoError>("x", "bad"); }),
                    IoError);
  measure_cell(cell, "x", [](LengthResult&) { no_device_memory(); });
  BOOST_TEST(cell.failure == "OOM");
  BOOST_TEST(cell.message == "[eval:x] OOM: memory: expected 4 GiB, got none");
}

BOOST_AUTO_TEST_SUITE_END()
