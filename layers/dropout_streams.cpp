#include "layers/dropout_streams.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield {
namespace {

constexpr std::string_view kFirst = "embedding";  // outside of the blocks
constexpr std::array<std::string_view, 8> kOfBlock = {
    "attention weights", "attention",  "activation", "mlp",
    "lora qkv",          "lora dense", "lora up",    "lora down"};
constexpr auto kPlaces = static_cast<int64_t>(kOfBlock.size());

}  // namespace

uint64_t dropout_stream(uint64_t draw, int64_t layer, std::string_view place) {
  return stream_of(concat("dropout ", draw, ' ', layer, ' ', place));
}

DropoutStreams::DropoutStreams(int64_t n_layer, const Device& device)
    : words_(Tensor::zeros({1 + n_layer * kPlaces, 2}, DType::i32, device)) {}

void DropoutStreams::begin(uint64_t draw) {
  std::vector<int32_t> words;
  const auto add = [&](int64_t layer, std::string_view place) {
    const uint64_t stream = dropout_stream(draw, layer, place);
    words.push_back(static_cast<int32_t>(static_cast<uint32_t>(stream)));
    words.push_back(static_cast<int32_t>(static_cast<uint32_t>(stream >> 32)));
  };
  add(-1, kFirst);
  for (int64_t layer = 0; layer < (words_.dim(0) - 1) / kPlaces; ++layer)
    for (const std::string_view place : kOfBlock) add(layer, place);
  words_.assign(Tensor::from(words, words_.shape()));
}

Tensor DropoutStreams::of(int64_t layer, std::string_view place) const {
  int64_t row = 0;
  if (layer >= 0 || place != kFirst) {
    const auto at = std::find(kOfBlock.begin(), kOfBlock.end(), place);
    row = 1 + layer * kPlaces + (at - kOfBlock.begin());
    require<Error>(layer >= 0 && at != kOfBlock.end() && row < words_.dim(0), "dropout",
                   "expected a place of a layer, got '", place, "' of layer ", layer);
  }
  return words_.view({2}, 2 * row);
}

}  // namespace farfield
