#include "apps/train/data_check.h"

#include <utility>

#include "engine/base/interrupt.h"

namespace farfield::train {
namespace {

constexpr int64_t kShortTokens = int64_t{1} << 26;

}  // namespace

DataCheck::DataCheck(run::TrainingData data) : data_(std::move(data)) {
  background_.start([this] {
    for (const data::Corpus& corpus : data_.corpora())
      corpus.verify([this](int64_t) {
        if (is_over_) fail<Interrupted>("data", "the check of the tokens was given up");
      });
  });
}

DataCheck::~DataCheck() { is_over_ = true; }

bool DataCheck::is_short() const {
  int64_t n = 0;
  for (const data::Corpus& corpus : data_.corpora())
    for (const auto split : data::kSplits)
      if (corpus.has_split(split)) n += corpus.split(split).size();
  return n <= kShortTokens;
}

void DataCheck::report() {
  if (background_.is_done()) background_.wait();
}

}  // namespace farfield::train
