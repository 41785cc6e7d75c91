// Masks whose streams lie on a device.

#include <boost/test/unit_test.hpp>

#include "engine/ops/attention.h"
#include "layers/dropout.h"
#include "tests/support/all_close.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_dropout_streams)  // ctest: gpu
namespace {

const Device kDevice{Device::Kind::cuda, 0};

LayerDropout drop_of(uint64_t draw, int64_t layer, const DropoutStreams* streams) {
  return {.hidden = 0.3, .seed = 5, .draw = draw, .layer = layer, .streams = streams};
}

BOOST_AUTO_TEST_CASE(a_mask_by_the_device_is_that_by_the_host) {
  const Tensor x = random_tensor({1, 9, 33}, 1, -1, 1, DType::f32).to(kDevice);
  DropoutStreams streams(2, kDevice);
  for (const uint64_t draw : {0, 1, 70'000})
    for (int64_t layer = 0; layer < 2; ++layer)
      for (const char* place : {"attention", "mlp"}) {
        streams.begin(draw);
        // The device has a draw of its own: what the host says of it is not read.
        BOOST_TEST(same_bits(drop_of(7, layer, &streams)(x, place),
                             drop_of(draw, layer, nullptr)(x, place)));
      }
  BOOST_TEST(same_bits(drop_of(7, -1, &streams)(x, "embedding"),
                       drop_of(70'000, -1, nullptr)(x, "embedding")));
}

BOOST_AUTO_TEST_CASE(attention_takes_them_too) {
  const auto x = [](uint64_t seed) {
    return random_tensor({2, 3, 40, 8}, seed, -1, 1, DType::f32).to(kDevice);
  };
  DropoutStreams streams(1, kDevice);
  streams.begin(3);
  const auto out = [&](const DropoutStreams* at, uint64_t draw) {
    const LayerDropout drop = drop_of(draw, 0, at);
    AttentionRule rule;
    rule.dropout = {.p = 0.4,
                    .random = drop.random("attention weights"),
                    .stream = drop.stream("attention weights")};
    return attention(x(1), x(2), x(3), rule);
  };
  BOOST_TEST(same_bits(out(&streams, 0), out(nullptr, 3)));
  BOOST_TEST(!same_bits(out(nullptr, 0), out(nullptr, 3)));
}

BOOST_AUTO_TEST_CASE(what_is_no_stream_is_refused) {
  const Tensor x = Tensor::zeros({8}, DType::f32, kDevice);
  const auto message = [&](const Tensor& stream) {
    return message_of<Error>([&] { dropout(x, 0.5, Random{}, 0, {}, stream); });
  };
  BOOST_TEST(message(Tensor::zeros({3}, DType::i32, kDevice)) ==
             "[dropout] expected a stream of two words, got [3]");
  BOOST_TEST(message(Tensor::zeros({2}, DType::f32, kDevice)) ==
             "[dropout] expected a stream in int32, got float32");
  const DropoutStreams streams(2, kDevice);
  for (const auto& [layer, place] :
       {std::pair<int64_t, const char*>{2, "mlp"}, {0, "embedding"}, {-1, "mlp"}})
    BOOST_TEST(message_of<Error>([&, layer = layer, place = place] {
                 streams.of(layer, place);
               }).find("expected a place of a layer") != std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
