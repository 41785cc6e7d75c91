#include "apps/eval/sharing.h"

#include <cstring>
#include <new>

#include "apps/run/together.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/interrupt.h"

namespace farfield::eval {
namespace {

// No float32 equals it, so no RowMemory keeps it.
constexpr double kMadeUp = 1.0000000001;

std::string key_of(const Scorer::Ids& ids, const Scorer::Ids& targets, int64_t batch) {
  Hasher hasher;
  const int64_t sizes[] = {batch, static_cast<int64_t>(ids.size())};
  hasher.update(sizes, sizeof sizes);
  hasher.update(ids.data(), ids.size() * sizeof ids[0]);
  hasher.update(targets.data(), targets.size() * sizeof targets[0]);
  return hasher.hex();
}

}  // namespace

void Sharing::share(const std::function<void()>& work) {
  own_.clear();
  all_.clear();
  n_asked_ = 0;
  is_first_time_ = true;
  bool is_interrupted = false;
  try {
    work();
  } catch (const Interrupted&) {
    is_interrupted = true;
  } catch (const std::exception&) {
    // Every process meets the error again in the second run, with the values computed so far.
  }
  is_first_time_ = false;
  if (run::in_any(processes_, is_interrupted))
    fail<Interrupted>("eval", "stopped on request in the middle of a measurement");
  exchange();
}

std::vector<double> Sharing::values(const Scorer::Ids& ids, const Scorer::Ids& targets,
                                    int64_t batch, size_t n,
                                    const std::function<std::vector<double>()>& compute,
                                    const std::function<void(int64_t)>& pass) {
  const std::string key = key_of(ids, targets, batch);
  if (!is_first_time_) {
    const auto found = all_.find(key);
    return found == all_.end() ? compute() : found->second;
  }
  if (n_asked_++ % processes_.size() == processes_.rank()) return own_[key] = compute();
  if (pass) pass(static_cast<int64_t>(ids.size()));
  return std::vector<double>(n, kMadeUp);
}

void Sharing::exchange() {
  std::string text;  // key, number of values, values
  for (const auto& [key, values] : own_) {
    const uint64_t n = values.size();
    text += key;
    text.append(reinterpret_cast<const char*>(&n), sizeof n);
    text.append(reinterpret_cast<const char*>(values.data()), n * sizeof(double));
  }
  const size_t key_size = Hasher().hex().size();
  for (const std::string& one : processes_.gather(text))
    for (size_t at = 0; at < one.size();) {
      std::vector<double>& values = all_[one.substr(at, key_size)];
      at += key_size;
      uint64_t n = 0;
      std::memcpy(&n, one.data() + at, sizeof n);
      at += sizeof n;
      values.resize(n);
      std::memcpy(values.data(), one.data() + at, n * sizeof(double));
      at += n * sizeof(double);
    }
  own_.clear();
}

Scorer shared(const Scorer& model, Sharing& sharing, const std::function<void(int64_t)>& pass) {
  Scorer scorer;
  scorer.vocab_size = model.vocab_size;
  scorer.score = [model, &sharing, pass](const Scorer::Ids& ids, const Scorer::Ids& targets,
                                         int64_t batch) {
    return sharing.values(
        ids, targets, batch, targets.size(), [&] { return model.score(ids, targets, batch); },
        pass);
  };
  return scorer;
}

}  // namespace farfield::eval
