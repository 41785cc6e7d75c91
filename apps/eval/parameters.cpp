#include "apps/eval/parameters.h"

#include <algorithm>
#include <sstream>

#include "apps/cli/lists.h"
#include "engine/base/text.h"

namespace farfield::eval {

std::vector<std::string> parameter_words(const std::string& parameters) {
  std::vector<std::string> words;
  std::istringstream text(parameters);
  for (std::string part; text >> part;) {
    if (words.empty() || part.find('=') != std::string::npos)
      words.push_back(part);
    else
      words.back().append(" ").append(part);
  }
  return words;
}

std::string differing_parameters(const std::string& parameters,
                                 const std::vector<std::string>& all) {
  std::vector<std::string> differing;
  for (const std::string& word : parameter_words(parameters))
    if (std::any_of(all.begin(), all.end(), [&](const std::string& other) {
          return !cli::has(parameter_words(other), word);
        }))
      differing.push_back(word);
  return joined(differing, " ");
}

}  // namespace farfield::eval
