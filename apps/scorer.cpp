#include "apps/scorer.h"

#include <span>

namespace farfield::apps {
namespace {

// Beyond the batches of any training, so that evaluation does not repeat what training drew.
constexpr uint64_t kFirstDraw = uint64_t{1} << 40;

Tensor to_tensor(const Scorer::Ids& ids, const Shape& shape, const Device& device) {
  return Tensor::from(std::span<const int32_t>(ids), shape, device);
}

}  // namespace

Scorer scorer_of(const Transformer& model, const Device& device, uint64_t draw) {
  using Ids = Scorer::Ids;
  Scorer scorer;
  scorer.vocab_size = model.config().vocab_size;
  scorer.last = [&model, device, draw = kFirstDraw + draw](const Ids& ids, const Ids& targets,
                                                           int64_t batch) {
    const auto length = static_cast<int64_t>(ids.size()) / batch;
    return model
        .last_nll(to_tensor(ids, {batch, length}, device), to_tensor(targets, {batch}, device),
                  draw)
        .to_vector();
  };
  scorer.all = [&model, device, draw = kFirstDraw + draw](const Ids& ids, const Ids& targets,
                                                          int64_t batch) {
    const Shape shape{batch, static_cast<int64_t>(ids.size()) / batch};
    return model.nll(to_tensor(ids, shape, device), to_tensor(targets, shape, device), draw)
        .to_vector();
  };
  return scorer;
}

TokenStream stream_of_split(const data::TokenFile& tokens) {
  TokenStream stream;
  stream.size = tokens.size();
  stream.copy = [tokens](int64_t begin, int64_t n, int32_t* out) { tokens.copy(begin, n, out); };
  stream.bytes_per_token = tokens.bytes_per_token();
  return stream;
}

}  // namespace farfield::apps
