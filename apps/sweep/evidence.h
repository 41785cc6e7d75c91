#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace farfield::sweep {

enum class Verdict {
  pass,
  fail,
  undecided,  ///< the spread over seeds reaches both sides of a threshold, seeds disagree, or a
              ///< number cannot tell
  not_run,
};
std::string to_word(Verdict verdict);  ///< "PASS", "FAIL", "UNDECIDED", "NOT RUN"

/// The numbers that a finding is judged by, each with its condition. NaN means a missing number;
/// infinity is a number.
class Evidence {
 public:
  struct Item {
    std::string what;                  ///< "arxiv, w = 40: PPL 16 L / PPL L"
    double value = 0;                  ///< the mean over `by_seed`
    std::string condition = {};        ///< "at most 1.01"
    std::vector<double> by_seed = {};  ///< in the order of the seeds; not of a missing number
    bool is_missing = false, holds = false;
    /// Whether the 95 % interval of the value lies on one side of the threshold. True for a single
    /// seed without a half_width, which says nothing of the spread.
    bool is_sure = true;
    double margin = 0;  ///< to the threshold, as a share of that; below 0 where it does not hold
    /// Half the 95 % interval of this number of one seed, in its unit; NaN: unknown.
    double half_width;
    /// The numbers of the seeds share the source of that interval, so that more seeds do not make
    /// it smaller.
    bool is_same_in_all_seeds = false;
    std::string text = {};  ///< that it was measured on

    /// Whether it compares no number with a threshold: its value is shown for each seed.
    bool is_yes_or_no() const { return relation == Relation::yes_or_no; }

   private:
    friend class Evidence;
    enum class Relation { at_most, at_least, below, above, within, yes_or_no };
    void judge();  ///< holds, condition and margin, from value and limit
    /// Distances to the lower and the upper bound, below 0 beyond them; infinite without a bound.
    /// `is_ratio`: of logarithms, since a ratio spreads by factors.
    double to_lower(bool is_ratio) const;
    double to_upper(bool is_ratio) const;
    bool can_be_ratio() const;  ///< value and bounds are positive and finite
    Relation relation = Relation::yes_or_no;
    double limit = 0, tolerance = 0;
  };

  /// Each adds a number, and returns it so that its half_width can be set.
  Item& at_most(const std::string& what, double value, double limit);
  Item& at_least(const std::string& what, double value, double limit);
  Item& below(const std::string& what, double value, double limit);
  Item& above(const std::string& what, double value, double limit);
  /// |value / target - 1| at most `tolerance`, a share.
  Item& within(const std::string& what, double value, double target, double tolerance);
  /// For conditions that do not compare a number with a threshold; `value` is the number shown.
  Item& holds(const std::string& what, bool is_so, double value, const std::string& condition);
  /// A number that decides nothing, and why.
  void undecided(const std::string& what, double value, const std::string& why);
  /// A number that is needed and not there.
  void missing(const std::string& what);
  /// A sentence for the reader: an explanation, an exception.
  void note(const std::string& sentence);
  /// Sets the text of later items, and whether their `what` begins with it.
  void set_text(const std::string& text, bool is_told) {
    text_ = text;
    prefix_ = is_told ? text + ", " : "";
  }
  /// Adds the items and notes of another.
  void add(const Evidence& other);
  void clear_notes() { notes_.clear(); }

  const std::vector<Item>& items() const { return items_; }
  const std::vector<std::string>& notes() const { return notes_; }
  /// FAIL as soon as one surely does not hold; NOT RUN with nothing or something missing;
  /// UNDECIDED if one is not sure; else PASS.
  Verdict verdict() const;
  /// The number of seeds behind the verdict: of FAIL the most of an item that fails, else the least
  /// of all items. 0: none.
  size_t n_seed() const;
  /// "one seed" if n_seed() is 1, and "one seed on prose" where numbers on other texts have more;
  /// else "".
  std::string one_seed_note() const;

  /// One evidence from that of each seed: every number as the mean over the seeds that have it,
  /// with the interval of Student's t over them. Where numbers have a half_width, the interval is
  /// at least as wide as these pooled.
  static Evidence pooled(const std::vector<Evidence>& of_seeds);

 private:
  Item& add(const std::string& what, double value, Item::Relation relation, double limit,
            double tolerance = 0);
  /// The numbers that the verdict rests on: of FAIL the failing ones.
  std::vector<const Item*> deciding() const;
  static Item pooled(const std::vector<const Item*>& of_seeds);
  std::string text_, prefix_;
  std::vector<Item> items_;
  std::vector<std::string> notes_;
};

}  // namespace farfield::sweep
