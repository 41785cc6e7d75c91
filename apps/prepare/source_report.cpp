#include "apps/prepare/source_report.h"

#include <iostream>

#include "apps/cli/printable.h"
#include "apps/cli/progress.h"
#include "engine/base/error.h"

namespace farfield::prepare {
namespace {

constexpr size_t kMostShown = 10;

void print_files(const data::FileNotes& files, data::FileNote::Kind kind,
                 const std::string& all_of_them, std::ostream& out) {
  size_t n_shown = 0;
  for (const data::FileNote& note : files.all()) {
    if (note.kind != kind || n_shown == kMostShown) continue;
    out << "note: " << cli::printable(note.file) << ' ' << note.what << '\n';
    ++n_shown;
  }
  const size_t n_more = files.count(kind) - n_shown;
  if (n_more == 0) return;
  out << "note: and " << n_more << (n_more == 1 ? " file more" : " files more")
      << (all_of_them.empty() ? "" : ", named in " + cli::printable(all_of_them)) << '\n';
}

}  // namespace

void print_skipped(const data::Skipped& skipped, const data::JsonlOptions& options,
                   const std::string& all_of_them, std::ostream& out) {
  for (const auto& [name, count] : data::named_counts(skipped))
    if (count > 0) out << name << ": " << count << '\n';
  out << std::flush;
  if (skipped.missing_text > 0)
    std::cerr << "warning: " << cli::printable(data::missing_text_hint(skipped, options.text_key))
              << '\n';
  const std::string subsets = data::missing_subsets_hint(skipped, options.subsets);
  if (!subsets.empty()) std::cerr << "warning: " << cli::printable(subsets) << '\n';
  for (const auto kind : {data::FileNote::Kind::left_out, data::FileNote::Kind::changed,
                          data::FileNote::Kind::read_as})
    print_files(skipped.files, kind, all_of_them, cli::remarks());
}

void print_unread(const std::vector<data::SourceRecord>& sources, std::ostream& out) {
  std::string unread;
  for (const data::SourceRecord& source : sources) {
    if (source.unread_files == 0) continue;
    if (!unread.empty()) unread += ", ";
    if (source.files > 0 || source.unread_files > 1)
      unread +=
          concat(source.unread_files, " of ", source.files + source.unread_files, " files of ");
    unread += cli::printable(source.path);
  }
  if (!unread.empty()) out << "note: --max-bytes was reached; not read: " << unread << '\n';
}

}  // namespace farfield::prepare
