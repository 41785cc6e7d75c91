#include "apps/eval/scorer.h"

#include "layers/transformer.h"

namespace farfield::eval {

Tensor tensor_of(const Scorer::Ids& ids, int64_t batch, const Device& device) {
  return Tensor::from(ids, {batch, static_cast<int64_t>(ids.size()) / batch}, device);
}

Scorer scorer_of(const Transformer& model, const Device& device, uint64_t draw,
                 const std::function<void(int64_t)>& watch) {
  Scorer scorer;
  scorer.vocab_size = model.config().vocab_size;
  scorer.score = [&model, device, draw = kFirstDraw + draw, watch](
                     const Scorer::Ids& ids, const Scorer::Ids& targets, int64_t batch) {
    if (watch) watch(static_cast<int64_t>(ids.size()));
    return model.tail_nll(tensor_of(ids, batch, device), tensor_of(targets, batch, device), draw)
        .to_vector();
  };
  return scorer;
}

}  // namespace farfield::eval
