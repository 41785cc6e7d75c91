#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/sweep/report.h"

namespace farfield::sweep {

// The answers of a report in words: of one finding, counted, and by the theses of the papers.

/// For readers of a report.
inline constexpr const char* kPapersHelp =
    "The papers' own numbers come from other text and larger models: ratios can be compared, "
    "absolute values cannot.";
inline constexpr const char* kThesesHelp =
    "Each line is a thesis, what the findings behind it say, and their numbers.";
inline constexpr const char* kFindingsHelp =
    "Each finding has two answers. *As printed*: whether the paper's own words, with its "
    "thresholds, hold of our numbers, on every text. *At this scale*: whether what the experiment "
    "asks of models of this size holds; it says what is asked where that differs. A number is the "
    "mean over the seeds that its models share, with the least and the greatest seed in "
    "parentheses. UNDECIDED, or a question mark behind a number: its 95 % interval over the seeds "
    "reaches both sides of the threshold, the seeds disagree, or the number cannot tell, as a tie "
    "cannot. One seed says nothing of the spread. *In the paper*: how the statement stands in the "
    "paper's own numbers. All numbers: `claims.csv`.";

/// Whether the paper's own words hold of our numbers.
enum class PrintedAnswer {
  of_no_paper,   ///< a check of our own
  not_asked,     ///< the models that it speaks of are not those of this scale
  not_measured,  ///< or not in full, where the rest does not refute it
  yes,
  partly,     ///< some numbers surely hold and some surely do not
  no,         ///< none surely holds and some surely do not
  undecided,  ///< none surely does not
};
PrintedAnswer printed_answer(const Judgement& j);
std::string to_word(PrintedAnswer answer);  ///< "not asked", "yes", ...; "" for of_no_paper
/// The same with its numbers, "partly: 4 of 10 hold: ...", unless they are those at this scale.
std::string printed_text(const Judgement& j);
/// "PASS", "FAIL", ..., of one seed "PASS (one seed)" or "PASS (one seed on prose)".
std::string verdict_text(const Judgement& j);
/// What was asked at this scale, and the numbers that decided.
std::string asked_text(const Judgement& j);
/// How many hold, the numbers that decide with their thresholds, and the remarks.
std::string summary_of(const Evidence& evidence);

/// Both answers counted, each finding once. One that several experiments judge has the worst of
/// their verdicts, and is printed "partly" where one says yes and another no.
struct Counts {
  int64_t all = 0;
  std::map<Verdict, int64_t> here;
  std::map<PrintedAnswer, int64_t> printed;
};
/// Of the claims of one paper, or of our own checks: paper_of().
Counts counts_of(const Report& report, const std::string& paper);
/// A row for each paper, and one for our own checks.
ReportTable counts_table(const Report& report);
/// The claims of claims.csv that no experiment of this program judges.
std::vector<std::string> claims_without_experiment();

/// A thesis of a paper: what it says and what these numbers say of it.
struct Thesis {
  std::string paper, thesis;
  std::string answer;               ///< "holds", "holds as far as decided", "holds in part", ...
  std::string verdicts;             ///< "2 PASS, 1 UNDECIDED"; where each has a note on seeds, that
  std::string numbers;              ///< "windows with a field below L: PPL 16 L / PPL L 0.99 to 1"
  std::vector<std::string> claims;  ///< that it rests on, judged ones alone
};
/// The theses that have an answer, in the order of the papers.
std::vector<Thesis> theses_of(const Report& report);
/// The findings that any thesis rests on.
std::vector<std::string> claims_of_theses();

/// The paper of a finding, by its id: "Sandwich", "KERPLE", "ALiBi", "Extending Context"; else
/// "own".
std::string paper_of(const Judgement& j);
/// Whether an experiment can be run and has some number of its models, or has no models.
bool has_numbers(const Section& section);
/// The experiments without numbers, each with the reason: "sandwich/parity (not measured); ...".
std::string without_numbers_text(const Report& report);

}  // namespace farfield::sweep
