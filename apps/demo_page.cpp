#include "apps/demo_page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "apps/results_plots.h"
#include "apps/verdict.h"
#include "engine/base/error.h"

namespace farfield::apps {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

// An SVG document as an element of a page: without its XML declaration and document type.
std::string inlined(const std::string& svg) {
  const size_t begin = svg.find("<svg");
  return begin == std::string::npos ? "" : svg.substr(begin);
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

Verdict verdict_of(const RunResult& r) {
  return compare(r.result.lengths.front(), r.result.lengths.back());
}

// What the literature reports of an encoding trained short and tested long.
bool is_expected(const std::string& posenc, Verdict::Kind kind) {
  using Kind = Verdict::Kind;
  if (posenc.compare(0, 10, "sinusoidal") == 0) return kind == Kind::explodes;
  if (posenc.compare(0, 4, "rope") == 0) return kind == Kind::degrades || kind == Kind::explodes;
  return kind == Kind::flat || kind == Kind::improves;
}

std::string shade(const LengthResult& first, const LengthResult& cell) {
  if (!cell.failure.empty() || !first.failure.empty()) return "bad";
  const double ratio = std::exp(cell.mean_nll - first.mean_nll);
  return ratio >= 2 ? "bad" : ratio > 1.05 ? "worse" : ratio < 0.98 ? "better" : "same";
}

std::string results_rows(const std::vector<RunResult>& results) {
  std::string html = "<tr><th scope=\"col\">encoding</th>";
  for (const LengthResult& cell : results.front().result.lengths)
    html += concat("<th scope=\"col\">", cell.length, "</th>");
  html += "<th scope=\"col\">longest / shortest</th></tr>\n";
  for (const RunResult& r : results) {
    html += "<tr><th scope=\"row\">" + escaped(r.posenc) + "</th>";
    for (const LengthResult& cell : r.result.lengths)
      html += "<td class=\"" + shade(r.result.lengths.front(), cell) + "\">" +
              escaped(cell_text(cell, true)) + "</td>";
    const Verdict verdict = verdict_of(r);
    html += "<td>" +
            (verdict.kind == Verdict::Kind::unknown ? std::string("–")
                                                    : "× " + short_number(verdict.ratio)) +
            ", " + to_words(verdict.kind) + "</td></tr>\n";
  }
  return html;
}

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Farfield: trained short, tested long</title>
<style>
body { font: 16px/1.55 system-ui, sans-serif; color: #1c1c1c; max-width: 56rem; margin: 2rem auto;
       padding: 0 1rem; background: #fff; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
svg { width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .3rem .65rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child { text-align: left; font-weight: 600; }
.facts td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
.better { background: #dff0e2; } .worse { background: #fbe8cf; } .bad { background: #f6cfc9; }
footer { margin-top: 2.5rem; color: #555; font-size: .85rem; }
</style>
</head>
<body>
)";

}  // namespace

std::vector<std::string> findings(const std::vector<RunResult>& results) {
  std::vector<std::string> sentences, as_expected, otherwise;
  for (const RunResult& r : results) {
    const LengthResult& first = r.result.lengths.front();
    const LengthResult& last = r.result.lengths.back();
    const Verdict verdict = verdict_of(r);
    (is_expected(r.posenc, verdict.kind) ? as_expected : otherwise).push_back(r.posenc);
    if (verdict.kind == Verdict::Kind::unknown) {
      sentences.push_back(concat(r.posenc, " cannot be judged: ", cell_text(first, false), " at ",
                                 first.length, ", ", cell_text(last, false), " at ", last.length,
                                 "."));
      continue;
    }
    sentences.push_back(
        concat(r.posenc, ' ', to_words(verdict.kind), ": ", short_number(first.perplexity()),
               " at ", first.length, ", ", short_number(last.perplexity()), " at ", last.length,
               ", that is ", verdict.difference < 0 ? "" : "+", fixed(verdict.difference, 3), " ± ",
               fixed(verdict.error, 3), " nats per token on the same tokens."));
  }
  std::string last =
      "Published results, on larger models and longer training, are: sinusoidal explodes beyond "
      "the "
      "training length, rotary degrades, relative biases stay flat or improve. ";
  if (otherwise.empty())
    last += "That pattern is seen here, for every encoding of the table.";
  else if (as_expected.empty())
    last += "That pattern is not seen here.";
  else
    last += concat("Here it is seen for ", joined(as_expected), ", and not for ", joined(otherwise),
                   ".");
  sentences.push_back(last);
  return sentences;
}

std::vector<Plot> demo_plots(const std::vector<RunResult>& results) {
  std::vector<NamedPlot> drawn = results_plots(results);
  if (drawn.empty()) return {};
  Plot plot = std::move(drawn.front().plot);
  plot.title = concat("Trained on ", results.front().train_len, " tokens: last-token perplexity");
  std::vector<std::string> hiding;
  std::vector<Curve> calm;
  for (size_t i = 0; i < results.size(); ++i) {
    plot.curves[i].style = static_cast<int>(i);
    const auto& cells = results[i].result.lengths;
    const bool rises = !std::all_of(cells.begin(), cells.end(), [&](const LengthResult& cell) {
      return cell.perplexity() < 1.5 * cells.front().perplexity();
    });
    if (rises)
      hiding.push_back(results[i].posenc);
    else
      calm.push_back(plot.curves[i]);
  }
  std::vector<Plot> plots = {plot};
  if (hiding.empty() || calm.empty()) return plots;
  plot.curves = std::move(calm);
  plot.title = "The same without " + joined(hiding);
  plots.push_back(std::move(plot));
  return plots;
}

std::string demo_page(const DemoFacts& facts, const std::vector<RunResult>& results,
                      const std::vector<std::string>& plots) {
  const RunResult& any = results.front();
  const auto& lengths = any.result.lengths;
  const std::vector<std::string> said = findings(results);
  std::string html = kHead;
  html += concat("<h1>Trained on ", any.train_len, " tokens, tested on up to ",
                 lengths.back().length, "</h1>\n");
  html += concat(
      "<p>The same small language model was trained ", results.size(),
      " times from the same seed on the same text (", escaped(facts.text_from),
      "), with sequences of ", any.train_len,
      " tokens. Only the way it encodes position differs. Then each was asked to predict the "
      "same ",
      lengths.front().items.size(),
      " tokens of text it had not seen, given more and more of what stands before "
      "them.</p>\n");
  html += "<ul>\n";
  for (size_t i = 0; i + 1 < said.size(); ++i) html += "<li>" + escaped(said[i]) + "</li>\n";
  html += "</ul>\n<p>" + escaped(said.back()) + "</p>\n";
  for (const std::string& plot : plots) html += "<figure>\n" + inlined(plot) + "</figure>\n";
  if (plots.empty()) html += "<p>No plot: gnuplot was not there to draw it.</p>\n";
  html += "<h2>Perplexity ± standard error</h2>\n<div class=\"wide\"><table>\n" +
          results_rows(results) + "</table></div>\n";
  html += concat(
      "<h2>How to read this</h2>\n<p>Perplexity is the exponential of the mean surprise at the "
      "true "
      "next token: the number of equally likely tokens that would be as hard to guess, so lower is "
      "better. "
      "At length L a token is predicted from the L − 1 tokens before it. The predicted tokens are "
      "the "
      "same in every column, so along a row only the context grows: a model that can use it, or at "
      "least is not disturbed by it, does not get worse to the right. Columns beyond ",
      any.train_len,
      " ask for distances that never occurred in training. The standard errors tell how far "
      "another draw of tokens might lie; along a row they overstate the doubt, because the tokens "
      "are the "
      "same, and the sentences above use the error of the difference instead. Between rows, "
      "differences smaller than the errors say nothing about which encoding is better; one seed "
      "and one small model do not either.</p>\n");
  html += "<h2>What was run</h2>\n<table class=\"facts\">\n";
  std::vector<std::pair<std::string, std::string>> rows = {
      {"text", facts.text_from},
      {"size", facts.text_size},
      {"model", facts.model},
      {"training", facts.training},
      {"measurement", any.result.protocol + ": " + any.result.parameters}};
  rows.insert(rows.end(), facts.more.begin(), facts.more.end());
  for (const auto& [name, value] : rows)
    html +=
        "<tr><th scope=\"row\">" + escaped(name) + "</th><td>" + escaped(value) + "</td></tr>\n";
  html +=
      "</table>\n<footer>Made by Farfield's <code>demo</code>. Beside this page: last-token.csv "
      "with every number, and one run folder for each model.</footer>\n</body>\n</html>\n";
  return html;
}

}  // namespace farfield::apps
