#include "apps/cli/blank_list.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::cli {

bool BlankList::has_loose(const std::string& word) const {
  return std::find(words.begin() + 1, words.end(), word) != words.end();
}

std::string BlankList::way_out() const {
  return concat("; values of --", option, " are joined by commas: --", option, ' ',
                joined(words, ","));
}

std::string blank_list_hint(const std::vector<BlankList>& lists, const std::string& word) {
  for (const BlankList& list : lists)
    if (list.has_loose(word)) return list.way_out();
  return "";
}

}  // namespace farfield::cli
