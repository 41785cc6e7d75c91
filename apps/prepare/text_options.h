#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "data/source.h"

namespace farfield::prepare {

/// The options that say what text is read, for every command that reads some.
class TextOptions {
 public:
  void add_to(cli::Options& options);
  /// Once they are parsed. ConfigError for an unknown format, and without an input, or with one
  /// where the command has others.
  data::SourceOptions source(bool has_others = false) const;

 private:
  std::vector<std::string> inputs_;
  std::optional<std::string> format_;
  data::SourceOptions source_;
};

/// "1.5 MB": 10^6 bytes.
std::string megabytes(double bytes);

}  // namespace farfield::prepare
