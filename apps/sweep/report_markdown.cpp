// report_markdown() of report.h.

#include <algorithm>
#include <cctype>

#include "apps/cli/lists.h"
#include "apps/sweep/findings.h"
#include "engine/base/error.h"
#include "engine/base/markdown.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

void add_table(const ReportTable& table, std::string& text) {
  text += concat("\n", table.is_papers ? "*" : "**", markdown_text(table.caption),
                 table.is_papers ? "*" : "**", "\n\n|");
  for (const std::string& name : table.header) text += concat(' ', markdown_text(name), " |");
  text += "\n|";
  for (size_t i = 0; i < table.header.size(); ++i) text += i == 0 ? "---|" : "---:|";
  text += '\n';
  for (size_t i = 0; i < table.groups.size(); ++i) {
    const bool begins = i > 0 && table.groups[i] != table.groups[i - 1];
    text += concat(
        i == 0 ? "|" : "",
        begins && !table.groups[i].empty() ? concat(" *", markdown_text(table.groups[i]), "*") : "",
        " |", i + 1 == table.groups.size() ? "\n" : "");
  }
  for (const auto& row : table.rows) {
    text += '|';
    for (const ReportTable::Field& field : row) {
      const char* const bold = field.is_best ? "**" : "";
      text += concat(' ', bold, markdown_text(field.text), bold, " |");
    }
    text += '\n';
  }
}

// A block that is shown as it is.
std::string indented(const std::string& block) {
  std::string text = "\n";
  for (size_t begin = 0; begin < block.size();) {
    const size_t end = std::min(block.find('\n', begin), block.size());
    text += concat(end > begin ? "    " : "", block.substr(begin, end - begin), '\n');
    begin = end + 1;
  }
  return text;
}

// A link to the heading of a section of this page.
std::string heading_link(const std::string& heading, const std::string& shown) {
  std::string anchor;
  for (const char c : heading)
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (c == ' ')
      anchor += '-';
  return concat('[', markdown_text(shown), "](#", anchor, ')');
}

// The section in which a finding is judged.
std::string claim_link(const Report& report, const std::string& claim) {
  for (const Section& section : report.sections)
    for (const Judgement& j : section.judgements)
      if (j.claim == claim) return heading_link(section.id, claim);
  return claim;
}

void add_theses(const Report& report, std::string& text) {
  const std::vector<Thesis> theses = theses_of(report);
  if (theses.empty()) return;
  text += concat("\n## What was learned\n\nAt scale ", report.scale, ". ", kThesesHelp, "\n\n");
  for (const Thesis& t : theses)
    text += concat(
        "* **", t.paper, "**: ", markdown_text(t.thesis), ": **", t.answer, "** (", t.verdicts,
        "). ", markdown_text(t.numbers), t.numbers.empty() ? "(" : ". (",
        joined(t.claims, ", ", [&](const std::string& claim) { return claim_link(report, claim); }),
        ")\n");
}

void add_claims(const Report& report, std::string& text) {
  text += concat("\n## Findings\n\n", kFindingsHelp, "\n");
  add_table(counts_table(report), text);
  if (const std::vector<std::string> left = claims_without_experiment(); !left.empty())
    text += concat("\nClaims without an experiment in this program: ", left.size(), " (",
                   joined(left), ").\n");
  text +=
      "\n| finding | experiment | statement | in the paper | as printed, on our numbers | at this "
      "scale |\n|---|---|---|---|---|---|\n";
  for (const Section& section : report.sections) {
    const bool is_shown = has_numbers(section);
    for (const Judgement& j : section.judgements)
      text += concat("| ", markdown_text(j.claim), " | ",
                     is_shown ? heading_link(section.id, section.id) : markdown_text(section.id),
                     " | ", markdown_text(j.statement), " | ", markdown_text(j.in_paper), " | ",
                     markdown_text(printed_text(j)), " | **", verdict_text(j), "** ",
                     markdown_text(asked_text(j)), " |\n");
  }
}

void add_contents(const Report& report, std::string& text) {
  text += "\n## Contents\n\n";
  for (const Section& section : report.sections)
    if (has_numbers(section))
      text += concat("* ", heading_link(section.id, section.id), ": ", markdown_text(section.title),
                     '\n');
}

void add_without_numbers(const Report& report, std::string& text) {
  if (const std::string without = without_numbers_text(report); !without.empty())
    text += concat("\n## Without numbers\n\n", markdown_text(without), ".\n");
}

}  // namespace

std::string report_markdown(const Report& report,
                            const std::vector<std::vector<std::string>>& figures) {
  std::string text = concat("# ", report.title, '\n');
  if (report.has_papers) add_theses(report, text);
  text += '\n';
  for (const auto& [name, value] : report.facts)
    text += concat("* **", name, "**: ", markdown_text(value), '\n');
  if (report.has_papers) {
    text += concat('\n', kPapersHelp, " They stand under *italic captions*.\n");
    add_claims(report, text);
    add_contents(report, text);
  }
  for (size_t s = 0; s < report.sections.size(); ++s) {
    const Section& section = report.sections[s];
    if (report.has_papers && !has_numbers(section)) continue;
    text += concat("\n## ", section.id, "\n\n", section.title, "\n\n", section.source, '\n');
    if (!section.not_run.empty()) text += concat("\nNOT RUN: ", section.not_run, '\n');
    if (!section.judgements.empty())
      text += concat('\n', heading_link("findings", "Findings"), ":\n\n");
    for (const Judgement& j : section.judgements) {
      text += concat("* **", verdict_text(j), "** ", markdown_text(j.claim), ": ",
                     markdown_text(j.statement), ".\n");
      if (!j.is_own())
        text += concat("  * as printed, on our numbers: ", markdown_text(printed_text(j)), '\n');
      if (const std::string asked = asked_text(j); !asked.empty())
        text += concat("  * at this scale: ", markdown_text(asked), '\n');
    }
    if (!section.facts.empty()) text += '\n';
    for (const std::string& fact : section.facts) text += concat("* ", markdown_text(fact), '\n');
    for (const std::string& remark : section.remarks) text += concat('\n', remark, '\n');
    for (const ReportTable& table : section.tables) add_table(table, text);
    for (const std::string& block : section.blocks) text += indented(block);
    std::vector<std::string> notes;  // of all figures, each once
    for (size_t i = 0; i < section.figures.size(); ++i) {
      if (figures[s][i].empty()) continue;
      text +=
          concat("\n![", section.figures[i].caption, "](figures/", figure_name(section, i), ")\n");
      for (const std::string& note : section.figures[i].notes) cli::add_new(notes, note);
    }
    if (!notes.empty()) text += concat('\n', joined(notes, " "), '\n');
  }
  if (report.has_papers) add_without_numbers(report, text);
  return text;
}

}  // namespace farfield::sweep
