#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/analysis/timing.h"
#include "engine/base/error.h"

namespace farfield::bench {

/// The expressions that were not measured.
struct LeftOut {
  std::vector<std::string> lines = {};  ///< each expression with its reason
  /// The first refusal of an expression that was asked for by name.
  std::optional<ConfigError> refusal = {};
  /// Throws the refusal. Called at the end, so that exit status 0 means that all were measured.
  void rethrow() const {
    if (refusal) throw ConfigError(*refusal);
  }
};

/// An expression to measure.
struct BenchEncoding {
  std::string posenc;
  bool is_asked_for = true;  ///< by name; an encoding out of "all" may be left out
};

/// The encodings that --posenc names, each once and in order. Only `none` moves to the front, since
/// the others are compared with it. "all" is every encoding of the registry, with its required
/// arguments, in training.
std::vector<BenchEncoding> bench_encodings(const std::vector<std::string>& expressions);

/// One of several subjects that are measured in turn with the first.
template <class Subject>
struct Contender {
  std::string posenc;
  std::unique_ptr<Subject> subject;
  analysis::Samples time_s;
  double against_none = 0;  ///< median ratio of neighbours; 0: without `none`
};

/// Measures each encoding `rounds` times, after `warm_up` times that do not count. If `none` is
/// among them, it runs once before each round of each other encoding, so that slow drifts of the
/// machine do not count in their ratio. make(posenc) makes a subject; its run() does the timed work
/// and returns seconds. At most two subjects exist at a time. show(contender) writes each row as
/// soon as it is known. Returns the encodings that cannot run this problem, with the reason. An
/// encoding that was asked for by name, and not by "all", makes a refusal too; if it is the only
/// encoding, the refusal is thrown.
template <class Make, class Show>
LeftOut measure_in_turn(const std::vector<BenchEncoding>& encodings, int64_t warm_up,
                        int64_t rounds, const Make& make, const Show& show) {
  using Subject = typename decltype(make(std::string()))::element_type;
  LeftOut left_out;
  Contender<Subject> none;
  for (const BenchEncoding& encoding : encodings) {
    Contender<Subject> one{encoding.posenc, nullptr, {}, 0};
    analysis::Samples none_s;
    const bool is_none = encoding.posenc == "none";
    try {
      one.subject = make(encoding.posenc);
      for (int64_t round = -warm_up; round < rounds; ++round) {
        const double none_time = none.subject != nullptr ? none.subject->run() : 0;
        const double time = one.subject->run();
        if (round < 0) continue;
        one.time_s.add(time);
        none_s.add(none_time);
      }
    } catch (const ConfigError& error) {
      if (encodings.size() == 1) throw;
      if (encoding.is_asked_for && !left_out.refusal) left_out.refusal = error;
      left_out.lines.push_back(encoding.posenc + ": " + error.what());
      continue;
    }
    if (none.subject != nullptr) one.against_none = analysis::median_ratio(one.time_s, none_s);
    if (is_none) one.against_none = 1;
    show(one);
    if (is_none) none = std::move(one);
  }
  return left_out;
}

}  // namespace farfield::bench
