#pragma once
// Models of a line each, to test protocols with.

#include <cmath>
#include <new>

#include "apps/eval/subject.h"
#include "engine/base/error.h"
#include "engine/base/random.h"
#include "posenc/encoding.h"

namespace farfield::test {

constexpr int32_t kToyVocab = 11;

/// Independent uniform tokens.
inline eval::TokenStream toy_text(int64_t size) {
  eval::TokenStream text;
  text.size = size;
  text.copy = [](int64_t begin, int64_t n, int32_t* out) {
    const Random random{9, 9};
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<int32_t>(random.below(static_cast<uint64_t>(begin + i), kToyVocab));
  };
  return text;
}

/// A model whose nll for the target at place t of a row is nll(row, t, target).
template <class F>
eval::Scorer model_of(F nll) {
  using Ids = eval::Scorer::Ids;
  eval::Scorer model;
  model.vocab_size = kToyVocab;
  model.score = [nll](const Ids& ids, const Ids& targets, int64_t batch) {
    const auto length = static_cast<int64_t>(ids.size()) / batch;
    const auto n = static_cast<int64_t>(targets.size()) / batch;
    std::vector<double> values;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < n; ++i)
        values.push_back(
            nll(ids.data() + b * length, length - n + i, targets[static_cast<size_t>(b * n + i)]));
    return values;
  };
  return model;
}

/// A stand-in for a model, on a text.
inline eval::Subject subject(const eval::Scorer& model, const eval::TokenStream& text,
                             uint64_t seed = 5) {
  eval::Subject s;
  s.model.scorer = model;
  s.text = text;
  s.model.seed = seed;
  return s;
}

/// Every token has probability 1 / V.
inline eval::Scorer uniform_model() {
  return model_of([](const int32_t*, int64_t, int32_t) { return std::log(double{kToyVocab}); });
}

/// nll = the target's id: says which targets were asked for.
inline eval::Scorer target_model() {
  return model_of([](const int32_t*, int64_t, int32_t target) { return double(target); });
}

/// Depends on the last w tokens of the context.
inline eval::Scorer windowed_model(int64_t w) {
  return model_of([w](const int32_t* row, int64_t t, int32_t target) {
    double value = target;
    for (int64_t d = 0; d < w && d <= t; ++d)
      value += static_cast<double>(row[t - d]) / static_cast<double>(d + 2);
    return value;
  });
}

/// Fine for rows of up to 14 inputs, NaN from position 15 on in longer ones; rows of 31 inputs are
/// beyond its positions, and of 63 beyond its memory.
inline eval::Scorer failing_model() {
  eval::Scorer model =
      model_of([](const int32_t*, int64_t t, int32_t) { return t + 2 >= 16 ? std::nan("") : 1.0; });
  model.score = [score = model.score](const eval::Scorer::Ids& ids,
                                      const eval::Scorer::Ids& targets, int64_t batch) {
    const auto length = static_cast<int64_t>(ids.size()) / batch;
    if (length >= 63) throw std::bad_alloc();
    if (length >= 31) fail<posenc::PositionError>("posenc:toy", "too long");
    return score(ids, targets, batch);
  };
  return model;
}

}  // namespace farfield::test
