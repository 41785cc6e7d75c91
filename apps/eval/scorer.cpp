#include "apps/eval/scorer.h"

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

Subject subject_of(const Transformer& model, const Device& device, const TokenStream& text,
                   uint64_t seed, const std::function<void(int64_t)>& watch) {
  Subject subject;
  subject.make_scorer = [&model, device, watch](uint64_t draw) {
    return scorer_of(model, device, draw, watch);
  };
  subject.scorer = subject.make_scorer(0);
  subject.text = text;
  subject.seed = seed;
  subject.train_len = model.config().train_len;
  subject.is_random = model.is_random(posenc::Phase::eval);
  subject.model = &model;
  subject.device = device;
  subject.watch = watch;
  return subject;
}

}  // namespace farfield::eval
