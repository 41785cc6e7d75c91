#include <boost/test/unit_test.hpp>
#include <set>

#include "data/masking.h"

BOOST_AUTO_TEST_SUITE(test_masking)

using namespace farfield;
using namespace farfield::data;

namespace {

constexpr int64_t kTokens = 100, kRows = 200;
constexpr int32_t kMask = 257;
const Masking kMasking{.share = 0.15, .mask_token = kMask, .n_vocab = 257};

// Rows of the token `id` alone.
Batch batch_of(int32_t id, int64_t seq_len = kTokens, int64_t n_row = kRows) {
  const auto n = static_cast<size_t>(seq_len * n_row);
  Batch batch;
  batch.seq_len = seq_len;
  batch.inputs.assign(n, id);
  batch.targets.assign(n, 3);
  batch.rows.resize(static_cast<size_t>(n_row));
  return batch;
}

Batch masked(int32_t id, uint64_t seed, int64_t step) {
  Batch batch = batch_of(id);
  mask(batch, kMasking, seed, step);
  return batch;
}

std::vector<int64_t> places(uint64_t seed, int64_t sequence, double share = 0.15) {
  return masked_places(kTokens, share, masking_random(seed, "test", sequence));
}

}  // namespace

BOOST_AUTO_TEST_CASE(so_many_different_places_are_chosen_in_rising_order) {
  for (int64_t sequence = 0; sequence < 50; ++sequence) {
    const std::vector<int64_t> of = places(1, sequence);
    BOOST_TEST(of.size() == 15u);
    for (size_t i = 0; i < of.size(); ++i)
      BOOST_TEST((of[i] >= 0 && of[i] < kTokens && (i == 0 || of[i] > of[i - 1])));
  }
  BOOST_TEST(places(1, 0, 0.999).size() == 100u);
  for (const int64_t n : {1, 2, 3}) {  // at least one, however short
    BOOST_TEST(n_masked(n, 0.15) == 1);
    BOOST_TEST(masked_places(n, 0.15, masking_random(1, "test", n)).size() == 1u);
  }
  BOOST_TEST(n_masked(10, 0.15) == 2);
}

BOOST_AUTO_TEST_CASE(places_follow_from_seed_use_and_sequence) {
  BOOST_TEST(places(1, 7) == places(1, 7));
  BOOST_TEST(places(1, 7) != places(2, 7));
  BOOST_TEST(places(1, 7) != places(1, 8));
  BOOST_TEST(places(1, 7) != masked_places(kTokens, 0.15, masking_random(1, "training", 7)));
}

// 4000 sequences: each place has 600 of them, give or take 23.
BOOST_AUTO_TEST_CASE(all_places_are_chosen_alike) {
  std::vector<int> n(static_cast<size_t>(kTokens));
  for (int64_t sequence = 0; sequence < 4000; ++sequence)
    for (const int64_t place : places(1, sequence)) ++n[static_cast<size_t>(place)];
  for (const int count : n) BOOST_TEST((count > 500 && count < 700), count);
}

BOOST_AUTO_TEST_CASE(chosen_tokens_alone_are_targets_and_others_stay) {
  const Batch batch = masked(65, 1, 3);
  for (int64_t row = 0; row < kRows; ++row) {
    const std::vector<int64_t> chosen =
        masked_places(kTokens, 0.15, masking_random(1, "training", 3 * kRows + row));
    const std::set<int64_t> is_chosen(chosen.begin(), chosen.end());
    for (int64_t t = 0; t < kTokens; ++t) {
      const auto at = static_cast<size_t>(row * kTokens + t);
      const bool is = is_chosen.count(t) > 0;
      BOOST_TEST(batch.targets[at] == (is ? 65 : kNotScored));
      if (!is) BOOST_TEST(batch.inputs[at] == 65);
    }
  }
}

// Of 3000 chosen tokens 80 %, 10 % and 10 %, give or take 22 and 16.
BOOST_AUTO_TEST_CASE(a_chosen_token_is_masked_random_or_itself) {
  const Batch batch = masked(65, 1, 3);
  int n_mask = 0, n_random = 0, n_same = 0;
  std::set<int32_t> random;
  for (size_t i = 0; i < batch.inputs.size(); ++i) {
    if (batch.targets[i] == kNotScored) continue;
    const int32_t id = batch.inputs[i];
    n_mask += id == kMask;
    n_same += id == 65;
    if (id == kMask || id == 65) continue;
    ++n_random;
    random.insert(id);
  }
  BOOST_TEST(n_mask + n_random + n_same == 3000);
  BOOST_TEST((n_mask > 2300 && n_mask < 2500), n_mask);
  BOOST_TEST((n_random > 230 && n_random < 370), n_random);
  BOOST_TEST((n_same > 230 && n_same < 370), n_same);
  BOOST_TEST(random.size() > 120u);  // of 256 others
  BOOST_TEST((*random.begin() >= 0 && *random.rbegin() < 257));
}

BOOST_AUTO_TEST_CASE(a_batch_is_masked_by_seed_and_step_alone) {
  BOOST_TEST(masked(65, 1, 3).inputs == masked(65, 1, 3).inputs);
  BOOST_TEST(masked(65, 1, 3).targets != masked(65, 1, 4).targets);
  BOOST_TEST(masked(65, 1, 3).targets != masked(65, 2, 3).targets);
  // Rows count on: the second row of a step of one row a batch is the next step's first.
  Batch one = batch_of(65, kTokens, 1), two = batch_of(65, kTokens, 2);
  mask(one, kMasking, 1, 1);
  mask(two, kMasking, 1, 0);
  BOOST_TEST(std::equal(one.inputs.begin(), one.inputs.end(), two.inputs.begin() + kTokens));
}

BOOST_AUTO_TEST_CASE(in_a_test_all_chosen_tokens_are_masked) {
  std::vector<int32_t> tokens(static_cast<size_t>(kTokens));
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(i);
  MaskedRows rows;
  for (int64_t sequence = 0; sequence < 3; ++sequence)
    rows.add(tokens, kMasking, masking_random(4, "test", sequence));
  BOOST_TEST_REQUIRE(rows.ids.size() == 300u);
  BOOST_TEST_REQUIRE(rows.places.size() == 45u);
  std::set<size_t> chosen;
  for (size_t i = 0; i < rows.places.size(); ++i) {
    const auto at = static_cast<size_t>(rows.places[i]);
    BOOST_TEST(at / 100 == i / 15);
    BOOST_TEST(at % 100 == static_cast<size_t>(places(4, static_cast<int64_t>(i / 15))[i % 15]));
    BOOST_TEST(rows.targets[i] == static_cast<int32_t>(at % 100));
    chosen.insert(at);
  }
  for (size_t i = 0; i < rows.ids.size(); ++i)
    BOOST_TEST(rows.ids[i] == (chosen.count(i) > 0 ? kMask : static_cast<int32_t>(i % 100)));
}

BOOST_AUTO_TEST_SUITE_END()
