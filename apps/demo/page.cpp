#include "apps/demo/page.h"

#include <algorithm>
#include <cmath>

#include "apps/eval/results_plots.h"
#include "apps/eval/verdict.h"
#include "apps/plot/page.h"
#include "apps/plot/svg.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::demo {
namespace {

eval::Verdict verdict_of(const eval::RunResult& r) {
  return eval::compare(r.result.lengths.front(), r.result.lengths.back());
}

// Whether the literature reports this for an encoding trained short and tested long.
bool is_expected(const std::string& posenc, eval::Verdict::Kind kind) {
  using Kind = eval::Verdict::Kind;
  if (posenc.compare(0, 10, "sinusoidal") == 0) return kind == Kind::explodes;
  if (posenc.compare(0, 4, "rope") == 0) return kind == Kind::degrades || kind == Kind::explodes;
  return kind == Kind::flat || kind == Kind::improves;
}

// The class of a cell: by the same verdict as the sentences and the last column.
std::string shade(const eval::LengthResult& first, const eval::LengthResult& cell) {
  if (!cell.failure.empty()) return "failed";
  switch (eval::compare(first, cell).kind) {
    case eval::Verdict::Kind::explodes:
      return "explodes";
    case eval::Verdict::Kind::degrades:
      return "degrades";
    case eval::Verdict::Kind::improves:
      return "improves";
    case eval::Verdict::Kind::flat:
    case eval::Verdict::Kind::unknown:
      break;
  }
  return "flat";
}

// With two decimals, so that the numbers of a column line up.
std::string lined_up(double value) {
  return std::isfinite(value) && value < 1e5 ? fixed(value, 2) : eval::short_number(value);
}

// Perplexity and its error in a column each.
std::string cells_of(const eval::LengthResult& first, const eval::LengthResult& cell) {
  const std::string css = shade(first, cell);
  if (!cell.failure.empty())
    return concat("<td class=\"", css, "\" colspan=\"2\">",
                  plot::escaped(eval::cell_text(cell, false)), "</td>");
  const double error = cell.perplexity_error();
  return concat("<td class=\"", css, "\">", lined_up(cell.perplexity()), "</td><td class=\"error ",
                css, "\">", std::isfinite(error) ? "± " + lined_up(error) : std::string(), "</td>");
}

std::string results_rows(const std::vector<eval::RunResult>& results) {
  std::string html = "<thead><tr><th scope=\"col\">encoding</th>";
  for (const eval::LengthResult& cell : results.front().result.lengths)
    html += concat("<th scope=\"colgroup\" colspan=\"2\">", cell.length, "</th>");
  html +=
      "<th scope=\"col\">ratio</th><th scope=\"col\" class=\"word\">verdict</th>"
      "</tr></thead>\n<tbody>\n";
  for (const eval::RunResult& r : results) {
    html += "<tr><th scope=\"row\">" + plot::escaped(r.posenc) + "</th>";
    for (const eval::LengthResult& cell : r.result.lengths)
      html += cells_of(r.result.lengths.front(), cell);
    const eval::Verdict verdict = verdict_of(r);
    html += concat("<td>",
                   verdict.kind == eval::Verdict::Kind::unknown ? std::string("–")
                                                                : "× " + lined_up(verdict.ratio),
                   "</td><td class=\"word\">", eval::to_words(verdict.kind), "</td></tr>\n");
  }
  return html + "</tbody>\n";
}

// The meaning of the table's colours.
std::string shades_legend() {
  const std::string percent = concat(std::lround(100 * eval::kNoticed), " %");
  const auto entry = [](const char* css, const std::string& text) {
    return concat("<li><span class=\"swatch ", css, "\"></span>", text, "</li>\n");
  };
  return "<p>Each cell is compared with the first cell of its row, token by token; ratio and "
         "verdict belong to the last cell:</p>\n"
         "<ul class=\"legend\">\n" +
         entry("explodes", concat("red: it explodes, perplexity is at least ",
                                  eval::short_number(eval::kExplodes), " times as high")) +
         entry("degrades", "orange: it degrades, more than " + percent + " higher") +
         entry("improves", "green: it improves, more than " + percent + " lower") +
         entry("flat",
               "no colour: it stays flat; the difference is smaller, or less than two of "
               "its standard errors") +
         "</ul>\n";
}

// The width of the screen below which the table has to be scrolled, in units of the text's size:
// about the width of its columns and of the page's margins.
double table_width_rem(const std::vector<eval::RunResult>& results) {
  return 18 + 6.4 * static_cast<double>(results.front().result.lengths.size());
}

constexpr const char* kStyle = R"(td.error { padding-left: 0; color: var(--soft); }
.failed { font-style: italic; }
.explodes { background: var(--explodes); }
.degrades { background: var(--degrades); }
.improves { background: var(--improves); }
.legend li { padding-left: 2.1rem; text-indent: -2.1rem; }
.legend { list-style: none; padding: 0; font-size: .9rem; }
.swatch { display: inline-block; width: 1.6rem; height: 1rem; margin-right: .5rem;
          border: 1px solid var(--line); vertical-align: text-bottom; }
)";

// Where perplexity was at its highest, when it explodes only between the ends.
std::string peak_of(const eval::RunResult& r) {
  const eval::LengthResult &first = r.result.lengths.front(), &last = r.result.lengths.back();
  const eval::LengthResult* peak = &first;
  for (const eval::LengthResult& cell : r.result.lengths)
    if (cell.failure.empty() && cell.mean_nll > peak->mean_nll) peak = &cell;
  if (eval::compare(first, *peak).kind != eval::Verdict::Kind::explodes ||
      eval::compare(first, last).kind == eval::Verdict::Kind::explodes)
    return "";
  return concat("; it explodes in between, to ", eval::short_number(peak->perplexity()), " at ",
                peak->length);
}

}  // namespace

std::vector<std::string> findings(const std::vector<eval::RunResult>& results) {
  std::vector<std::string> sentences, as_expected, otherwise;
  for (const eval::RunResult& r : results) {
    const eval::LengthResult& first = r.result.lengths.front();
    const eval::LengthResult& last = r.result.lengths.back();
    const eval::Verdict verdict = verdict_of(r);
    (is_expected(r.posenc, verdict.kind) ? as_expected : otherwise).push_back(r.posenc);
    if (verdict.kind == eval::Verdict::Kind::unknown) {
      sentences.push_back(concat(r.posenc, " cannot be judged: ", eval::cell_text(first, false),
                                 " at ", first.length, ", ", eval::cell_text(last, false), " at ",
                                 last.length, "."));
      continue;
    }
    sentences.push_back(concat(
        r.posenc, ' ', eval::to_words(verdict.kind), ": ", eval::short_number(first.perplexity()),
        " at ", first.length, ", ", eval::short_number(last.perplexity()), " at ", last.length,
        ", that is ", verdict.difference < 0 ? "" : "+", fixed(verdict.difference, 3), " ± ",
        fixed(verdict.error, 3), " nats per token on the same tokens", peak_of(r), "."));
  }
  std::string last =
      "Published results, on larger models and longer training, are: beyond the training length "
      "sinusoidal explodes, rotary degrades or explodes, relative biases stay flat or improve. ";
  if (otherwise.empty())
    last += "That pattern is seen here, for every encoding of the table.";
  else if (as_expected.empty())
    last += "That pattern is not seen here.";
  else
    last += concat("Here it is seen for ", listed(as_expected, " and "), ", and not for ",
                   listed(otherwise, " and "), ".");
  sentences.push_back(last);
  return sentences;
}

std::vector<plot::Plot> demo_plots(const std::vector<eval::RunResult>& results) {
  std::vector<eval::NamedPlot> drawn = eval::results_plots(results);
  if (drawn.empty()) return {};
  plot::Plot plot = std::move(drawn.front().plot);
  plot.title = concat("Trained on ", results.front().train_len, " tokens: last-token perplexity");
  std::vector<std::string> hiding;
  std::vector<plot::Curve> calm;
  for (size_t i = 0; i < results.size(); ++i) {
    plot.curves[i].style = static_cast<int>(i);
    const auto& cells = results[i].result.lengths;
    const bool rises =
        !std::all_of(cells.begin(), cells.end(), [&](const eval::LengthResult& cell) {
          return cell.perplexity() < 1.5 * cells.front().perplexity();
        });
    if (rises)
      hiding.push_back(results[i].posenc);
    else
      calm.push_back(plot.curves[i]);
  }
  std::vector<plot::Plot> plots = {plot};
  if (hiding.empty() || calm.empty()) return plots;
  plot.curves = std::move(calm);
  plot.title = "The same without " + listed(hiding, " and ");
  plots.push_back(std::move(plot));
  return plots;
}

std::string demo_page(const DemoFacts& facts, const std::vector<eval::RunResult>& results,
                      const std::vector<PageFigure>& figures, const std::string& csv) {
  const eval::RunResult& any = results.front();
  const auto& lengths = any.result.lengths;
  const std::vector<std::string> said = findings(results);
  std::string html = plot::page_head(
      "Farfield: trained short, tested long",
      concat(kStyle, "@media (max-width: ", eval::short_number(table_width_rem(results)),
             "rem) { .cue { display: block; } }\n"));
  html += concat("<h1>Trained on ", any.train_len, " tokens, tested on up to ",
                 lengths.back().length, "</h1>\n");
  html +=
      concat("<p>The same small language model was trained ", results.size(),
             " times from the same seed on the same text (", plot::escaped(facts.text_from),
             "), with sequences of ", any.train_len,
             " tokens. Only the way it encodes position differs. Then each was asked to predict "
             "the same ",
             lengths.front().items.size(),
             " tokens of text it had not seen, given more and more of what stands before "
             "them.</p>\n");
  html += "<ul>\n";
  for (size_t i = 0; i + 1 < said.size(); ++i) html += "<li>" + plot::escaped(said[i]) + "</li>\n";
  html += "</ul>\n<p>" + plot::escaped(said.back()) + "</p>\n";
  if (figures.empty()) {
    html += "<p>No plot: gnuplot was not there to draw it.</p>\n";
  } else {
    html += "<div class=\"figures\">\n";
    for (const PageFigure& figure : figures)
      html += "<figure>\n<figcaption>" + plot::escaped(figure.caption) + "</figcaption>\n" +
              plot::inlined(figure.svg) + "</figure>\n";
    html += "</div>\n";
  }
  html +=
      "<h2 id=\"table\">Perplexity ± standard error, by evaluation length</h2>\n"
      "<p class=\"cue\">The table is wider than the screen: scroll it to the right →</p>\n"
      "<div class=\"wide\" role=\"region\" aria-labelledby=\"table\" tabindex=\"0\">\n<table>\n" +
      results_rows(results) + "</table>\n</div>\n" + shades_legend();
  html += concat("<p>Every number: <a href=\"", plot::escaped(csv), "\">", plot::escaped(csv),
                 "</a></p>\n");
  html += concat(
      "<h2>How to read this</h2>\n<p>Perplexity is the exponential of the mean surprise at the "
      "true "
      "next token: the number of equally likely tokens that would be as hard to guess, so lower is "
      "better. At length L a token is predicted from the L − 1 tokens before it. The predicted "
      "tokens are the same in every column, so along a row only the context grows: a model that "
      "can "
      "use it, or at least is not disturbed by it, does not get worse to the right. Columns "
      "beyond ",
      any.train_len,
      " ask for distances that never occurred in training. The standard errors tell how far "
      "another draw of tokens might lie; along a row they overstate the doubt, because the tokens "
      "are the same, and sentences, colours and verdicts use the error of the difference instead. "
      "Between rows, differences smaller than the errors say nothing about which encoding is "
      "better; one seed and one small model do not either.</p>\n");
  html += "<h2>What was run</h2>\n<table class=\"facts\">\n<tbody>\n";
  std::vector<std::pair<std::string, std::string>> rows = {
      {"text", facts.text_from},
      {"size", facts.text_size},
      {"model", facts.model},
      {"training", facts.training},
      {"measurement", any.result.protocol + ": " + any.result.parameters}};
  rows.insert(rows.end(), facts.more.begin(), facts.more.end());
  for (const auto& [name, value] : rows)
    html += "<tr><th scope=\"row\">" + plot::escaped(name) + "</th><td>" + plot::escaped(value) +
            "</td></tr>\n";
  html +=
      "</tbody>\n</table>\n<footer>Made by Farfield's <code>demo</code>. Beside this page lies one "
      "run folder for each model.</footer>\n</body>\n</html>\n";
  return html;
}

}  // namespace farfield::demo
