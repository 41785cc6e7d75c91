#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

/// A word of other programs, and its name here.
struct Synonym {
  std::string_view said, meant;
};

/// did_you_mean() of error.h for a vocabulary that has synonyms: "; did you mean 'lr'?" for
/// "learning-rate". A known word that differs in case or in - and _ alone comes first, then a
/// synonym, then the nearest known word. A synonym whose meaning is not in `known` is passed over,
/// so that several vocabularies may share a table; of several with one word the first fits.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known,
                         std::span<const Synonym> synonyms);

}  // namespace farfield
