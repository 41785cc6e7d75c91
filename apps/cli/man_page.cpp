#include "apps/cli/man_page.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <utility>

#include "apps/cli/general_options.h"
#include "apps/cli/options.h"
#include "apps/cli/version.h"
#include "engine/base/text.h"
#include "engine/base/utf8.h"

namespace farfield::cli {
namespace {

// What roff reads as something else, or prints as another character: groff makes typographic quotes
// of ' and `, and a hyphen that nobody can copy to a command line of -.
const std::map<char, std::string_view> kEscapes = {
    {'\\', "\\(rs"}, {'-', "\\-"},   {'\'', "\\(aq"}, {'`', "\\(ga"},
    {'"', "\\(dq"},  {'^', "\\(ha"}, {'~', "\\(ti"},
};

struct Status {
  ExitCode code;
  const char* means;
};
constexpr Status kStatuses[] = {
    {kDone, "done"},
    {kFailed, "any other error"},
    {kUsage, "a usage error: an unknown option, encoding or argument"},
    {kBadData, "bad data or a bad file, or output that could not be written"},
    {kStopped, "stopped on request after a checkpoint was written; can be resumed"},
};

std::string heading(std::string_view macro, std::string_view text) {
  return "." + std::string(macro) + " \"" + roff(text) + "\"\n";
}

std::string spaced(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Lines of a length that an editor shows, which roff fills.
std::string filled(std::string_view text) {
  constexpr size_t kWidth = 72;
  std::string made, line;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (!line.empty() && line.size() + word.size() >= kWidth) {
      made += roff(line) + '\n';
      line.clear();
    }
    if (!word.empty()) line.append(line.empty() ? "" : " ").append(word);
    begin = end + 1;
  }
  return line.empty() ? made : made + roff(line) + '\n';
}

std::string entry(const CompletionWord& one) {
  std::string text = ".TP\n\\fB" + roff(one.word) + "\\fR";
  if (!one.placeholder.empty()) text += " \\fI" + roff(one.placeholder) + "\\fR";
  return text + '\n' + (one.help.empty() ? "\\&\n" : filled(spaced(one.help)));
}

// A text of --help: an empty line begins a paragraph, and a line set off is a term, two blanks or
// more, and what it means.
std::string prose(const std::string& text) {
  std::string made, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) made += (made.empty() ? "" : ".PP\n") + filled(paragraph);
    paragraph.clear();
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != ' ') {
      paragraph += line + ' ';
      continue;
    }
    end_paragraph();
    const std::string_view words = trimmed(line);
    const size_t gap = std::min(words.find("  "), words.size());
    if (!words.empty())
      made +=
          entry({std::string(words.substr(0, gap)), "", std::string(trimmed(words.substr(gap)))});
  }
  end_paragraph();
  return made;
}

std::string entries(const std::vector<CompletionWord>& all) {
  std::string text;
  for (const CompletionWord& one : all) text += entry(one);
  return text;
}

std::string synopsis(const ManSection& section) {
  std::string text = "\\fB" + roff(section.program) + "\\fR";
  if (section.groups.empty() && !section.commands.empty())
    return text + " \\fICOMMAND\\fR [options]\n";
  for (const CompletionWord& one : section.arguments)
    text += " \\fI" + roff(one.placeholder) + "\\fR";
  return text + " [options]\n";
}

// The first sentence, as a page of commands lists it.
std::string first_sentence(const std::string& summary) {
  std::string text = spaced(summary);
  text = text.substr(0, text.find(". "));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

std::string roff(std::string_view text) {
  std::string made;
  if (text.starts_with('.')) made = "\\&";
  for (size_t i = 0; i < text.size();) {
    const Utf8Sequence next = first_of_utf8(text.substr(i));
    const auto escape = kEscapes.find(text[i]);
    if (escape != kEscapes.end()) {
      made += escape->second;
    } else if (!next.is_valid || next.code_point > 0x7e) {
      char code[16];
      std::snprintf(code, sizeof code, "\\[u%04X]",
                    static_cast<unsigned>(next.is_valid ? next.code_point : 0xfffd));
      made += code;
    } else {
      made += next.code_point < 0x20 ? ' ' : text[i];
    }
    i += next.size;
  }
  return made;
}

bool asks_for_man_section(int argc, const char* const* argv) {
  return argc == 3 && std::string_view(argv[1]) == "--man" &&
         std::string_view(argv[2]) == "section";
}

void print_man_section(const ManSection& section, std::ostream& out) {
  if (section.program.find(' ') == std::string::npos) {
    out << heading("SH", "NAME") << roff(section.program) << " \\- "
        << roff(first_sentence(section.summary)) << '\n'
        << heading("SH", "SYNOPSIS") << synopsis(section) << heading("SH", "DESCRIPTION")
        << prose(section.summary);
  } else {
    out << heading("SH", section.program) << synopsis(section) << ".PP\n" << prose(section.summary);
  }
  if (!section.arguments.empty()) {
    out << heading("SS", "Arguments");
    for (const CompletionWord& one : section.arguments) out << entry({one.word, "", one.help});
  }
  if (!section.commands.empty()) out << heading("SS", "Commands") << entries(section.commands);
  for (const ManSection::Group& group : section.groups)
    if (!group.options.empty()) out << heading("SS", group.title) << entries(group.options);
}

std::string man_page(const std::string& program, const Program& fn) {
  std::string name = program;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return 'a' <= c && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  std::string text = ".TH \"" + roff(name) + "\" \"1\" \"" + commit_day() + "\" \"farfield " +
                     roff(build_facts().front().second) + "\" \"Farfield\"\n";
  for (const CompletionTable& table : completion_tables(program, fn)) {
    std::vector<std::string> call = {program};
    for (size_t begin = 0; begin < table.command.size();) {
      const size_t end = std::min(table.command.find(' ', begin), table.command.size());
      call.push_back(table.command.substr(begin, end - begin));
      begin = end + 1;
    }
    call.insert(call.end(), {"--man", "section"});
    text += own_output(fn, call);
  }
  text +=
      heading("SH", "GENERAL OPTIONS") + entries(general_options()) + heading("SH", "EXIT STATUS");
  for (const Status& status : kStatuses)
    text += entry({std::to_string(status.code), "", status.means});
  return text + heading("SH", "ENVIRONMENT") +
         entry({"FARFIELD_THREADS", "", "the number of threads where --threads gives none"});
}

}  // namespace farfield::cli
