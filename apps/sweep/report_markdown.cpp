// report_markdown() of report.h.

#include <algorithm>
#include <map>

#include "apps/sweep/report.h"
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

void add_claims(const Report& report, std::string& text) {
  std::map<Verdict, int> counts;
  for (const Section& section : report.sections)
    for (const Judgement& j : section.judgements) ++counts[j.evidence.verdict()];
  text += concat("\n## Findings\n\n", counts[Verdict::pass], " PASS, ", counts[Verdict::fail],
                 " FAIL, ", counts[Verdict::not_run],
                 " NOT RUN. `in the paper`: how the statement stands in the paper's own numbers.\n",
                 "\n| finding | experiment | statement | in the paper | here |\n"
                 "|---|---|---|---|---|\n");
  for (const Section& section : report.sections)
    for (const Judgement& j : section.judgements)
      text += concat("| ", markdown_text(j.claim), " | ", markdown_text(section.id), " | ",
                     markdown_text(j.statement), " | ", markdown_text(j.in_paper), " | ",
                     to_word(j.evidence.verdict()), " |\n");
}

}  // namespace

std::string report_markdown(const Report& report,
                            const std::vector<std::vector<std::string>>& figures) {
  std::string text = concat("# ", report.title, "\n\n");
  for (const auto& [name, value] : report.facts)
    text += concat("* **", name, "**: ", markdown_text(value), '\n');
  if (report.has_papers) {
    text +=
        "\nNumbers in *italic captions* are the papers' own; they were measured on other text with "
        "larger models, so ratios can be compared and absolute values cannot.\n";
    add_claims(report, text);
  }
  for (size_t s = 0; s < report.sections.size(); ++s) {
    const Section& section = report.sections[s];
    text += concat("\n## ", section.id, "\n\n", section.title, "\n\n", section.source, '\n');
    if (!section.not_run.empty()) text += concat("\nNOT RUN: ", section.not_run, '\n');
    if (!section.facts.empty()) text += '\n';
    for (const std::string& fact : section.facts) text += concat("* ", markdown_text(fact), '\n');
    for (const std::string& remark : section.remarks) text += concat('\n', remark, '\n');
    for (const ReportTable& table : section.tables) add_table(table, text);
    for (const std::string& block : section.blocks) text += indented(block);
    for (size_t i = 0; i < section.figures.size(); ++i)
      if (!figures[s][i].empty())
        text += concat("\n![", section.figures[i].caption, "](figures/", figure_name(section, i),
                       ")\n");
    if (!section.judgements.empty()) text += '\n';
    for (const Judgement& j : section.judgements)
      text += concat("* **", to_word(j.evidence.verdict()), "** ", markdown_text(j.claim), ": ",
                     markdown_text(j.statement), ". ", markdown_text(summary_of(j.evidence)), '\n');
  }
  return text;
}

}  // namespace farfield::sweep
