#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "data/jsonl.h"
#include "data/skipped.h"
#include "data/source.h"

namespace farfield::prepare {

/// Reports text that was left out or replaced while reading: prints the counts to `out`, and hints
/// and up to ten files of each kind to stderr. `all_of_them` names the file with all of them;
/// empty: there is none.
void print_skipped(const data::Skipped& skipped, const data::JsonlOptions& options,
                   const std::string& all_of_them, std::ostream& out);

/// The inputs, or parts of folders, that the limit of --max-bytes left unread, if there are some.
void print_unread(const std::vector<data::SourceRecord>& sources, std::ostream& out);

}  // namespace farfield::prepare
