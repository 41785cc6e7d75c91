#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/analysis/timing.h"
#include "engine/base/error.h"

namespace farfield::bench {

/// What was not measured.
struct LeftOut {
  std::vector<std::string> lines = {};      ///< each expression with its reason
  std::optional<ConfigError> refusal = {};  ///< the first of those that were asked for by name
  /// At the end, so that the program does not exit as if all had been measured.
  void rethrow() const {
    if (refusal) throw ConfigError(*refusal);
  }
};

/// An expression to measure.
struct BenchEncoding {
  std::string posenc;
  bool is_asked_for = true;  ///< by name; one that "all" stands for may be left out where it cannot
};

/// What --posenc stands for, each once, in order but for `none`, which goes first for the others to
/// be compared with; "all" is every encoding of the registry, with what must be given, in training.
std::vector<BenchEncoding> bench_encodings(const std::vector<std::string>& expressions);

/// One of several things that are measured in turn with the first.
template <class Subject>
struct Contender {
  std::string posenc;
  std::unique_ptr<Subject> subject;
  analysis::Samples time_s;
  double against_none = 0;  ///< median ratio of neighbours; 0: there is no `none`
};

/// Measures each encoding `rounds` times, after `warm_up` times that do not count: `none`, where it
/// is among them, once before each round of each other, so that slow drifts of the machine do not
/// count in their ratio. make(posenc) makes a subject, whose run() is what is timed, in seconds; at
/// most two are there at a time. A row is written by show(contender) as soon as it is known.
/// Returns what was left out, with the reason: encodings that this problem is refused with. One
/// that was asked for by name, and not by "all", makes a refusal too; of one alone it is thrown.
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
