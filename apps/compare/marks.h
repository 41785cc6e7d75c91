#pragma once

#include <string>

#include "apps/analysis/t_test.h"

namespace farfield::compare {

/// The meaning of † and * at a number that differs significantly from the reference's number.
enum class Marks {
  rows,    ///< of the row: † it is better than the reference, * it is worse
  paper,   ///< of the reference, as in the Sandwich paper: † it is better, * it is worse
  kerple,  ///< of the reference, as in the KERPLE paper: † it is better; no other sign
};
/// "rows", "paper", "kerple-paper".
std::string to_word(Marks marks);
/// The form of this name. ConfigError [eval] bad_argument, which lists all names.
Marks marks_named(const std::string& word);

/// The sign behind a number with this mark, or a blank. `is_perplexity`: less is better; else † is
/// a higher number and * a lower one in every form.
std::string sign_of(analysis::Mark mark, Marks marks, bool is_perplexity);
/// The mark as a word for files: the number is "better" or "worse" than the reference's number, for
/// other quantities "higher" or "lower", or "none".
std::string word_of(analysis::Mark mark, bool is_perplexity);
/// The meaning of the signs, with the row as the subject: "† better than rope, * worse than rope".
std::string legend_of(Marks marks, const std::string& reference, bool is_perplexity);

}  // namespace farfield::compare
