// Text that no protocol may read across the end of a document.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "apps/eval/evaluator.h"
#include "apps/eval/protocols/coherence.h"
#include "apps/eval/protocols/gradient.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/protocols/non_overlapping.h"
#include "apps/eval/protocols/position_wise.h"
#include "apps/eval/protocols/sliding.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/support/messages.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_within_documents)
namespace {

using test::subject;

constexpr int64_t kDocument = 100, kDocuments = 9;
constexpr int32_t kMark = 10;

// Every token is the number of its document; each ends with the mark.
TokenStream documents() {
  TokenStream text;
  text.size = kDocuments * (kDocument + 1);
  text.document_tokens = kDocument;
  text.copy = [](int64_t begin, int64_t n, int32_t* out) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = begin + i;
      out[i] =
          at % (kDocument + 1) == kDocument ? kMark : static_cast<int32_t>(at / (kDocument + 1));
    }
  };
  return text;
}

// Counts the rows that were asked for and insists that each is of one document.
struct Watched {
  int64_t rows = 0, targets = 0;
  std::set<int32_t> documents;

  Scorer scorer() {
    Scorer scorer;
    scorer.vocab_size = test::kToyVocab;
    scorer.score = [this](const Scorer::Ids& ids, const Scorer::Ids& wanted, int64_t batch) {
      const auto length = static_cast<int64_t>(ids.size()) / batch;
      const auto n = static_cast<int64_t>(wanted.size()) / batch;
      for (int64_t row = 0; row < batch; ++row) {
        const int32_t document = ids[static_cast<size_t>(row * length)];
        BOOST_TEST(document != kMark);
        const auto is_other = [document](int32_t id) { return id != document; };
        const auto input = ids.begin() + row * length;
        const auto target = wanted.begin() + row * n;
        BOOST_TEST(std::none_of(input, input + length, is_other));
        BOOST_TEST(std::none_of(target, target + n, is_other));
        documents.insert(document);
      }
      rows += batch;
      targets += n * batch;
      return std::vector<double>(wanted.size(), 1.0);
    };
    return scorer;
  }
};

CommonOptions lengths(std::vector<int64_t> all) {
  CommonOptions common;
  common.lengths = std::move(all);
  return common;
}

// Each item's first token and its predicted tokens lie in one document.
void check_items(const ProtocolResult& got, PredictedBy* predicted_by) {
  for (const LengthResult& cell : got.lengths)
    for (size_t item = 0; item < cell.items.size(); ++item) {
      const ItemTokens predicted = predicted_by(got, cell, item);
      const int64_t last = predicted.first + (predicted.n - 1) * predicted.every;
      const int64_t document = first_token_of(got, cell, item) / (kDocument + 1);
      BOOST_TEST(predicted.first / (kDocument + 1) == document);
      BOOST_TEST(last / (kDocument + 1) == document);
      BOOST_TEST(last % (kDocument + 1) < kDocument);
    }
}

BOOST_AUTO_TEST_CASE(segments_lie_within_documents_in_slots_and_anywhere) {
  for (const int64_t n : {18, 27, 300}) {  // 3 slots of 32 in each document, then any place
    Watched watched;
    LastTokenOptions own;
    own.segments = n;
    const ProtocolResult got =
        last_token(subject(watched.scorer(), documents()), lengths({8, 32}), own);
    BOOST_TEST(watched.rows == 2 * n);
    check_items(got, predicted_by_segment);
    for (const int64_t start : got.starts)
      if (n <= 27) BOOST_TEST(start % (kDocument + 1) % 32 == 0);
    if (n == 27) BOOST_TEST(watched.documents.size() == size_t{kDocuments});
    BOOST_TEST(got.parameters.find("documents=100") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(chunks_take_each_document_by_itself_and_drop_its_tail) {
  Watched watched;
  const ProtocolResult got =
      non_overlapping(subject(watched.scorer(), documents()), lengths({8, 32, 99}), {});
  BOOST_TEST(got.lengths[0].n_scored == kDocuments * 96);
  BOOST_TEST(got.lengths[1].n_scored == kDocuments * 96);
  BOOST_TEST(got.lengths[2].n_scored == kDocuments * 99);
  BOOST_TEST(watched.targets == kDocuments * (96 + 96 + 99));
  check_items(got, predicted_by_chunk);
  BOOST_TEST(got.lengths[1].items.size() == size_t{3 * kDocuments});
  BOOST_TEST(first_token_of(got, got.lengths[1], 4) == kDocument + 1 + 32);
}

BOOST_AUTO_TEST_CASE(windows_slide_within_each_document) {
  for (const int64_t stride : {1, 5, 8, 32}) {
    Watched watched;
    SlidingOptions own;
    own.stride = stride;
    const ProtocolResult got = sliding(subject(watched.scorer(), documents()), lengths({32}), own);
    BOOST_TEST(got.lengths[0].n_scored == kDocuments * 96);
    BOOST_TEST(watched.targets == kDocuments * 96);
    BOOST_TEST(got.lengths[0].items.size() == size_t{3 * kDocuments});
    check_items(got, predicted_by_chunk);
  }
}

BOOST_AUTO_TEST_CASE(sequences_of_positions_lie_within_documents) {
  for (const int64_t every : {1, 8}) {
    Watched watched;
    PositionWiseOptions own;
    own.sequences = 20;
    own.truncated_every = every;
    Subject s = subject(watched.scorer(), documents());
    s.model.train_len = 8;
    if (every > 1) s.model.baseline.kind = Baseline::Kind::truncated;
    const ProtocolResult got = position_wise(s, lengths({32}), own);
    BOOST_TEST(watched.targets == 20 * 32 / every);
    check_items(got, predicted_by_chunk);
  }
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_documents_is_refused) {
  Watched watched;
  const Subject s = subject(watched.scorer(), documents());
  const auto refused = says("not_enough_data", "in documents of 100");
  BOOST_CHECK_EXCEPTION(last_token(s, lengths({101}), {}), IoError, refused);
  BOOST_CHECK_EXCEPTION(non_overlapping(s, lengths({100}), {}), IoError, refused);
  BOOST_CHECK_EXCEPTION(sliding(s, lengths({100}), {}), IoError, refused);
  BOOST_CHECK_EXCEPTION(position_wise(s, lengths({100}), {}), IoError, refused);
  NonOverlappingOptions tail;
  tail.keep_tail = true;
  BOOST_CHECK_EXCEPTION(non_overlapping(s, lengths({8}), tail), ConfigError,
                        says("bad_argument", "--keep-tail"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
