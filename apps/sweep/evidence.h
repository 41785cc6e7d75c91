#pragma once

#include <string>
#include <vector>

namespace farfield::sweep {

enum class Verdict { pass, fail, not_run };
std::string to_word(Verdict verdict);  ///< "PASS", "FAIL", "NOT RUN"

/// The numbers that a finding is judged by, each with its condition. NaN means a missing number;
/// infinity is a number.
class Evidence {
 public:
  struct Item {
    std::string what;  ///< "arxiv, w = 40: PPL 16 L / PPL L"
    double value = 0;
    std::string condition;  ///< "at most 1.01"
    bool is_missing = false, holds = false;
    double margin = 0;  ///< to the threshold, as a share of that; below 0 where it does not hold
  };

  void at_most(const std::string& what, double value, double limit);
  void at_least(const std::string& what, double value, double limit);
  void below(const std::string& what, double value, double limit);
  void above(const std::string& what, double value, double limit);
  /// |value / target - 1| at most `tolerance`, a share.
  void within(const std::string& what, double value, double target, double tolerance);
  /// For conditions that do not compare a number with a threshold; `value` is the number shown.
  void holds(const std::string& what, bool is_so, double value, const std::string& condition);
  /// A number that is needed and not there.
  void missing(const std::string& what);
  /// A sentence for the reader: an explanation, an exception.
  void note(const std::string& sentence);
  /// Sets the prefix of later `what` texts: the data set.
  void set_prefix(const std::string& prefix) { prefix_ = prefix; }

  const std::vector<Item>& items() const { return items_; }
  const std::vector<std::string>& notes() const { return notes_; }
  /// FAIL as soon as one does not hold; NOT RUN with nothing or something missing; else PASS.
  Verdict verdict() const;

 private:
  void add(const std::string& what, double value, const std::string& condition, bool holds,
           double margin);
  std::string prefix_;
  std::vector<Item> items_;
  std::vector<std::string> notes_;
};

}  // namespace farfield::sweep
