#include <boost/test/unit_test.hpp>

#include "apps/eval/batch_memory.h"
#include "engine/ops/view.h"
#include "engine/storage.h"
#include "layers/transformer.h"
#include "tests/support/random_tensor.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_batch_memory)
namespace {

ModelConfig config_of(const char* preset, int64_t n_layer) {
  ModelConfig config = farfield::preset(preset);
  config.n_layer = n_layer;  // memory does not depend on it
  config.vocab_size = 320;
  config.posenc = "alibi";
  return config;
}

// What a pass over all targets of `batch` rows of `length` took at its most, beside the weights.
int64_t measured(const ModelConfig& config, int64_t batch, int64_t length) {
  const Transformer model(config, 1);
  const Tensor ids = random_ids({batch, length}, 1, 300);
  const int64_t before = memory_stats({}).current_bytes;
  reset_peak_memory({});
  if (config.sees_later)
    model.nll_at(ids, slice(reshape(ids, {batch * length}), 0, 0, 100),
                 slice(reshape(ids, {batch * length}), 0, 0, 100));
  else
    model.nll(ids, ids);
  return memory_stats({}).peak_bytes - before;
}

BOOST_AUTO_TEST_CASE(the_estimate_is_near_what_the_allocator_gave_for_two_models) {
  for (const char* preset : {"small", "neox-162m"}) {
    const ModelConfig config = config_of(preset, 2);
    const double estimate = 1024.0 * static_cast<double>(bytes_per_token(config, DType::f32));
    const auto took = static_cast<double>(measured(config, 4, 256));
    // Never less than what is needed by more than the rounding of block sizes, never far more.
    BOOST_TEST(took / estimate <= 1.15, preset << ": " << took << " of " << estimate);
    BOOST_TEST(took / estimate >= 0.7, preset << ": " << took << " of " << estimate);
  }
}

// Of narrow MLPs too, so that attention takes the most.
BOOST_AUTO_TEST_CASE(the_estimate_is_near_it_for_encoders) {
  for (const int64_t d_ff : {1024, 256}) {
    ModelConfig config = config_of("small", 2);
    config.posenc = "rope";
    config.sees_later = true;
    config.d_ff = d_ff;
    const double estimate = 1024.0 * static_cast<double>(bytes_per_token(config, DType::f32));
    const auto took = static_cast<double>(measured(config, 4, 256));
    BOOST_TEST_MESSAGE(d_ff << ": " << took / estimate);
    BOOST_TEST(took / estimate <= 1.15);
    BOOST_TEST(took / estimate >= 0.7);
  }
}

BOOST_AUTO_TEST_CASE(the_estimate_follows_widths_and_type) {
  const ModelConfig small = config_of("small", 2), large = config_of("neox-162m", 2);
  BOOST_TEST(bytes_per_token(large, DType::f32) == 4 * (2 * 768 + 768 + 2 * 3072));
  BOOST_TEST(bytes_per_token(large, DType::bf16) * 2 == bytes_per_token(large, DType::f32));
  BOOST_TEST(bytes_per_token(small, DType::f32) < bytes_per_token(large, DType::f32));
}

BOOST_AUTO_TEST_CASE(half_of_the_memory_is_taken_and_never_more_than_the_most) {
  const ModelConfig config = config_of("neox-162m", 2);
  const int64_t each = bytes_per_token(config, DType::f32);
  BOOST_TEST(choose_batch_tokens(config, DType::f32, 2 * 1000 * each) == 1000);
  BOOST_TEST(choose_batch_tokens(config, DType::f32, int64_t{1} << 50) == 16384);
  BOOST_TEST(choose_batch_tokens(config, DType::f32, 1) == 1);
  BOOST_TEST(choose_batch_tokens(config, DType::f32, 0) == 16384);  // not known
}

BOOST_AUTO_TEST_CASE(copies_of_weights_are_kept_where_a_quarter_of_the_memory_holds_them) {
  const ModelConfig config = config_of("small", 2);
  const int64_t n = parameter_count(config);
  BOOST_TEST(has_room_for_copies(config, DType::f32, 4 * 2 * 4 * n));
  BOOST_TEST(!has_room_for_copies(config, DType::f32, 4 * 2 * 4 * n - 4));
  BOOST_TEST(has_room_for_copies(config, DType::bf16, 4 * (2 + 2 * 2) * n));
  BOOST_TEST(!has_room_for_copies(config, DType::bf16, 4 * (2 + 2 * 2) * n - 4));
  BOOST_TEST(has_room_for_copies(config, DType::f32, 0));  // not known
  // Of a large model all of its rounded copy, and as many packed ones as the process may have.
  const ModelConfig large = config_of("neox-1.3b", 24);
  const int64_t copies = 2 * parameter_count(large) + (int64_t{512} << 20);
  BOOST_TEST(has_room_for_copies(large, DType::bf16, 4 * copies));
  BOOST_TEST(!has_room_for_copies(large, DType::bf16, 4 * copies - 4));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
