// report_html() of report.h.

#include <algorithm>
#include <set>

#include "apps/plot/page.h"
#include "apps/plot/svg.h"
#include "apps/sweep/findings.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::sweep {
namespace {

using plot::escaped;

constexpr const char* kStyle = R"(
body { max-width: 80rem; }
section { border-top: 1px solid var(--line); margin-top: 2.5rem; }
/* Beside each other where both fit whole, else one below the other. */
.pair { display: flex; flex-wrap: wrap; gap: 0 2.5rem; }
.pair .wide { flex: 0 1 auto; max-width: 100%; }
.wide th { overflow-wrap: normal; }
.wide th:first-child { min-width: 0; overflow-wrap: normal; }
td.code { white-space: normal; font-size: .8rem; line-height: 1.2; color: var(--soft); }
caption { text-align: left; font-weight: 600; padding: .8rem 0 .3rem; }
/* Stays in sight while its table scrolls, and is no narrower than a sentence. */
caption span { position: sticky; left: 0; display: inline-block; max-width: calc(100vw - 3.5rem); }
.pair table { min-width: 18rem; }
.figures { margin-top: 1.5rem; }
figcaption span { font-weight: 400; }
.two { flex-basis: 41rem; max-width: 65rem; display: grid; gap: 0 1rem; align-items: start;
       grid-template-columns: 1fr 1fr; }
.two figcaption { grid-column: 1 / -1; }
.printed caption { font-weight: 400; font-style: italic; }
.printed td, .printed th { color: var(--soft); }
td.best { font-weight: 700; }
.groups th { text-align: left; font-weight: 400; border-left: 1px solid var(--line); }
.claims td, .claims th { text-align: left; white-space: normal; vertical-align: top; }
.claims { width: 100%; }
.numbers { color: var(--soft); font-size: .85rem; }
.pass, .fail, .undecided, .notrun { font-weight: 700; white-space: nowrap; padding: .05rem .45rem;
                        border-radius: .3rem; }
.pass { background: var(--improves); }
.fail { background: var(--explodes); }
.notrun { border: 1px solid var(--line); color: var(--soft); font-weight: 400; }
.undecided { background: var(--degrades); }
.filters { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; padding: .5rem 0; }
.theses li { padding: .2rem 0; }
.contents { columns: 24rem; }
.contents li { break-inside: avoid; }
.source { color: var(--soft); }
th[aria-sort] { cursor: pointer; text-decoration: underline dotted; }
@media (max-width: 40rem) {
  .two { display: block; flex-basis: 20rem; }
  .claims thead { display: none; }
  .claims tr { display: block; border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .claims td { display: block; border: 0; padding: .1rem 0; }
}
)";

// Sorts a table by the column that is clicked, and filters the findings; without it the page says
// the same.
constexpr const char* kScript = R"(<script>
document.querySelectorAll('table.sortable thead th').forEach((head, column) => {
  const index = head.cellIndex;
  head.setAttribute('aria-sort', 'none');
  head.addEventListener('click', () => {
    const body = head.closest('table').tBodies[0];
    const up = head.getAttribute('aria-sort') !== 'ascending';
    const key = row => { const t = row.cells[index].textContent, x = parseFloat(t);
                         return isNaN(x) ? t : x; };
    const rows = [...body.rows].sort((a, b) => {
      const x = key(a), y = key(b);
      if (typeof x !== typeof y) return typeof x === 'number' ? -1 : 1;
      return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1); });
    rows.forEach(row => body.append(row));
    head.parentNode.querySelectorAll('th').forEach(h => h.setAttribute('aria-sort', 'none'));
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
  });
});
const claims = document.querySelector('table.claims'), filters = document.querySelector('.filters');
if (claims && filters) {
  const rows = [...claims.tBodies[0].rows], selects = [];
  const shown = document.createElement('span');
  const update = () => {
    let n = 0;
    rows.forEach(row => {
      row.hidden = selects.some(s => s.value && row.dataset[s.name] !== s.value);
      n += row.hidden ? 0 : 1; });
    shown.textContent = n + ' of ' + rows.length + ' findings'; };
  for (const name of ['verdict', 'printed', 'paper', 'experiment']) {
    const label = document.createElement('label'), select = document.createElement('select');
    select.name = name;
    const title = {verdict: 'at this scale', printed: 'as printed'}[name] || name;
    select.add(new Option('all', ''));
    [...new Set(rows.map(row => row.dataset[name]))].filter(x => x).forEach(
      x => select.add(new Option(x, x)));
    select.addEventListener('change', update);
    label.append(title + ' ', select);
    filters.append(label);
    selects.push(select);
  }
  filters.append(shown);
  filters.hidden = false;
  update();
}
</script>
)";

std::string badge(Verdict verdict, const std::string& text) {
  const char* const css = verdict == Verdict::pass        ? "pass"
                          : verdict == Verdict::fail      ? "fail"
                          : verdict == Verdict::undecided ? "undecided"
                                                          : "notrun";
  return concat("<span class=\"", css, "\">", text, "</span>");
}
std::string badge(const Judgement& j) { return badge(j.evidence.verdict(), verdict_text(j)); }

std::string anchor(const std::string& id) {
  std::string name = id;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '-';
  return name;
}

// The code of a failure, "position_out_of_range", takes more than one line instead of the room of
// three numbers.
bool is_code(const ReportTable::Field& field) {
  return field.text.size() > 12 &&
         field.text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
}

std::string class_of(const ReportTable::Field& field) {
  return field.is_best ? " class=\"best\"" : is_code(field) ? " class=\"code\"" : "";
}

std::string broken_at_underscores(const ReportTable::Field& field) {
  if (!is_code(field)) return escaped(field.text);
  std::string html;
  for (const char c : field.text) html += c == '_' ? "_<wbr>" : std::string(1, c);
  return html;
}

std::string table_html(const ReportTable& table) {
  std::string html =
      concat("<div class=\"wide\" tabindex=\"0\"><table class=\"",
             table.is_papers ? "printed" : "ours", table.is_sortable ? " sortable" : "",
             "\">\n<caption><span>", escaped(table.caption), "</span></caption>\n<thead>");
  for (size_t i = 0, n = 1; i < table.groups.size(); i += n, n = 1) {
    while (i + n < table.groups.size() && table.groups[i + n] == table.groups[i]) ++n;
    html +=
        concat(i == 0 ? "<tr class=\"groups\">" : "", "<th colspan=\"", n, "\" scope=\"colgroup\">",
               escaped(table.groups[i]), "</th>", i + n == table.groups.size() ? "</tr>" : "");
  }
  html += "<tr>";
  for (const std::string& name : table.header)
    html += concat("<th scope=\"col\">", escaped(name), "</th>");
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string hint =
          row[i].hint.empty() ? "" : concat(" title=\"", escaped(row[i].hint), '"');
      html += i == 0 ? concat("<th scope=\"row\"", hint, '>', escaped(row[i].text), "</th>")
                     : concat("<td", class_of(row[i]), hint, '>', broken_at_underscores(row[i]),
                              "</td>");
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

std::string link(const std::string& id, const std::string& text) {
  return concat("<a href=\"#", anchor(id), "\">", escaped(text), "</a>");
}

// Text of ours with *emphasis*.
std::string emphasised(const std::string& text) {
  std::string html;
  bool is_open = false;
  for (const char c : escaped(text))
    if (c == '*') {
      html += is_open ? "</em>" : "<em>";
      is_open = !is_open;
    } else {
      html += c;
    }
  return html;
}

std::string theses_html(const Report& report) {
  const std::vector<Thesis> theses = theses_of(report);
  if (theses.empty()) return "";
  std::string html = concat("<h2 id=\"learned\">What was learned</h2>\n<p>At scale ", report.scale,
                            ". ", kThesesHelp, "</p>\n<ul class=\"theses\">\n");
  for (const Thesis& t : theses)
    html += concat("<li><b>", t.paper, "</b>: ", escaped(t.thesis), ": <b>", t.answer, "</b> (",
                   t.verdicts, "). ", escaped(t.numbers), " <span class=\"numbers\">(",
                   joined(t.claims, ", ",
                          [](const std::string& claim) { return link("claim-" + claim, claim); }),
                   ")</span></li>\n");
  return html + "</ul>\n";
}

// What was asked and found, in two parts: as printed and at this scale.
std::string answers_html(const Judgement& j) {
  std::string html;
  if (!j.is_own())
    html +=
        concat("<br><span class=\"numbers\">As printed, on our numbers: ", escaped(printed_text(j)),
               "</span>");
  if (const std::string asked = asked_text(j); !asked.empty())
    html += concat("<br><span class=\"numbers\">At this scale: ", escaped(asked), "</span>");
  return html;
}

std::string claims_html(const Report& report) {
  std::string rows;
  std::set<std::string> named;  // a claim of two experiments has one anchor
  for (const Section& section : report.sections) {
    const bool is_shown = has_numbers(section);
    for (const Judgement& j : section.judgements) {
      const std::string id =
          named.insert(j.claim).second ? concat(" id=\"", anchor("claim-" + j.claim), '"') : "";
      rows += concat(
          "<tr", id, " data-verdict=\"", to_word(j.evidence.verdict()), "\" data-printed=\"",
          to_word(printed_answer(j)), "\" data-paper=\"", paper_of(j), "\" data-experiment=\"",
          escaped(section.id), "\"><td>", escaped(j.claim), "</td><td>",
          is_shown ? link(section.id, section.id) : escaped(section.id), "</td><td>", badge(j),
          "</td><td>", escaped(to_word(printed_answer(j))), "</td><td>", escaped(j.statement),
          answers_html(j), "</td><td>", escaped(j.in_paper), "</td></tr>\n");
    }
  }
  const std::vector<std::string> left = claims_without_experiment();
  std::string html = concat("<h2 id=\"findings\">Findings</h2>\n<p>", emphasised(kFindingsHelp),
                            "</p>\n", table_html(counts_table(report)));
  if (!left.empty())
    html += concat("<p>Claims without an experiment in this program: ", left.size(), " (",
                   joined(left), ")</p>\n");
  return concat(html,
                "<div class=\"filters\" hidden=\"hidden\"></div>\n"
                "<table class=\"claims\">\n<thead><tr><th scope=\"col\">finding</th>"
                "<th scope=\"col\">experiment</th><th scope=\"col\">at this scale</th>"
                "<th scope=\"col\">as printed</th>"
                "<th scope=\"col\" class=\"word\">statement and numbers</th>"
                "<th scope=\"col\">in the paper</th></tr></thead>\n<tbody>\n",
                rows, "</tbody>\n</table>\n");
}

std::string contents_html(const Report& report) {
  std::string html = "<h2 id=\"contents\">Contents</h2>\n<ul class=\"contents\">\n";
  for (const Section& section : report.sections)
    if (has_numbers(section))
      html += concat("<li>", link(section.id, section.id), ": ", escaped(section.title), "</li>\n");
  return html + "</ul>\n";
}

std::string without_numbers_html(const Report& report) {
  const std::string without = without_numbers_text(report);
  if (without.empty()) return "";
  return concat("<h2 id=\"without-numbers\">Without numbers</h2>\n<p>", escaped(without),
                ".</p>\n");
}

std::string notes_html(const ReportFigure& figure) {
  return figure.notes.empty() ? ""
                              : concat("<br><span class=\"numbers\">",
                                       escaped(joined(figure.notes, " ")), "</span>");
}

std::string section_html(const Section& section, const std::vector<std::string>& figures) {
  std::string html = concat("<section id=\"", anchor(section.id), "\">\n<h2>", escaped(section.id),
                            "</h2>\n<p>", escaped(section.title), "</p>\n<p class=\"source\">",
                            escaped(section.source), "</p>\n");
  if (!section.not_run.empty())
    html +=
        concat("<p>", badge(Verdict::not_run, "NOT RUN"), ' ', escaped(section.not_run), "</p>\n");
  if (!section.judgements.empty()) {
    html += "<ul>\n";
    for (const Judgement& j : section.judgements)
      html += concat("<li>", badge(j), ' ', link("claim-" + j.claim, j.claim), ": ",
                     escaped(j.statement), '.', answers_html(j), "</li>\n");
    html += concat("</ul>\n<p>", link("findings", "All findings"), ", ",
                   link("contents", "contents"), "</p>\n");
  }
  for (const std::string& remark : section.remarks)
    html += concat("<p>", escaped(remark), "</p>\n");
  // The paper's table stands beside ours, which comes before it.
  for (size_t i = 0; i < section.tables.size(); ++i) {
    html += "<div class=\"pair\">\n" + table_html(section.tables[i]);
    while (i + 1 < section.tables.size() && section.tables[i + 1].is_papers)
      html += table_html(section.tables[++i]);
    html += "</div>\n";
  }
  for (const std::string& block : section.blocks)
    html += concat("<div class=\"wide\" tabindex=\"0\"><pre>", escaped(block), "</pre></div>\n");
  html += "<div class=\"figures\">\n";
  for (size_t i = 0; i < section.figures.size(); ++i)
    if (!figures[i].empty())
      html += concat(
          plot::has_points(section.figures[i].near) ? "<figure class=\"two\">\n" : "<figure>\n",
          "<figcaption>", escaped(section.figures[i].caption), notes_html(section.figures[i]),
          "</figcaption>\n", plot::inlined(figures[i]), "</figure>\n");
  html += "</div>\n";
  if (!section.facts.empty()) {
    html += "<ul class=\"numbers\">\n";
    for (const std::string& fact : section.facts) html += concat("<li>", escaped(fact), "</li>\n");
    html += "</ul>\n";
  }
  return html + "</section>\n";
}

}  // namespace

std::string report_html(const Report& report,
                        const std::vector<std::vector<std::string>>& figures) {
  std::string html = plot::page_head("Farfield: " + report.title, kStyle);
  html += concat("<h1>", escaped(report.title), "</h1>\n");
  if (report.has_papers) html += theses_html(report);
  html += "<table class=\"facts\">\n<tbody>\n";
  for (const auto& [name, value] : report.facts)
    html += concat("<tr><th scope=\"row\">", escaped(name), "</th><td>", escaped(value),
                   "</td></tr>\n");
  html += "</tbody>\n</table>\n";
  if (report.has_papers)
    html += concat("<p>", kPapersHelp, " They stand in grey under italic captions.</p>\n",
                   claims_html(report), contents_html(report));
  for (size_t s = 0; s < report.sections.size(); ++s)
    if (!report.has_papers || has_numbers(report.sections[s]))
      html += section_html(report.sections[s], figures[s]);
  if (report.has_papers) html += without_numbers_html(report);
  return html + kScript + "</body>\n</html>\n";
}

}  // namespace farfield::sweep
