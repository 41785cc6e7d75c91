// The parts of the Sandwich paper that need no training: its illustrations, the shape of its bias,
// and the overviews of data and models.

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/analysis/log_fit.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/inspect/show.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/biases.h"
#include "apps/sweep/measured.h"
#include "apps/sweep/reference.h"
#include "apps/sweep/settings_table.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/config.h"

namespace farfield::sweep {
namespace {

constexpr const char* kPaper = "Sandwich (arXiv:2212.10356) ";
constexpr int64_t kHeads = 12;  // of the paper's model
constexpr int64_t kRow = 8192;  // distances of its pictures

std::string whole(double x) { return std::isinf(x) ? "-inf" : shortest(x + 0.0); }

ReportTable::Field field(double x, int digits) { return {fixed(x, digits)}; }

// Figure 1: the bias of a head, divided by minus its slope.
std::vector<double> distances_of_alibi() {
  std::vector<double> bias = bias_by_distance("alibi_shift(delta=0)", kHeads, 0, 4);
  const double slope = std::exp2(-8.0 / kHeads);
  for (double& b : bias) b = -b / slope;
  return bias;
}

void sandwich_fig1(const Measured&, Section& section) {
  ReportTable table = causal_table(distances_of_alibi(), whole);
  table.caption = "taken from the scores of a head, in units of its slope";
  section.tables.push_back(std::move(table));
  ReportTable slopes;
  slopes.caption = concat("slope of head n of ", kHeads, ": 2^-h, h = 8 n / ", kHeads);
  slopes.header = {"n", "h", "slope"};
  for (int64_t n = 1; n <= kHeads; ++n)
    slopes.rows.push_back(
        {{concat(n)},
         field(8.0 * static_cast<double>(n) / kHeads, 3),
         field(-bias_by_distance("alibi_shift(delta=0)", kHeads, n - 1, 2)[1], 5)});
  section.tables.push_back(std::move(slopes));
}

void sandwich_fig1_matrix(const Measured&, Evidence& e) {
  const std::vector<double> got = distances_of_alibi();
  for (size_t d = 0; d < got.size(); ++d)
    e.within(concat("distance ", d, ": -bias / slope"), got[d] + 1, static_cast<double>(d) + 1,
             1e-12);
}

std::vector<double> window_of_two() { return bias_by_distance("window(w=2)", kHeads, 0, 4); }

void sandwich_fig2(const Measured&, Section& section) {
  ReportTable table = causal_table(window_of_two(), whole);
  table.caption = "added to the scores of every head by a window of 2";
  section.tables.push_back(std::move(table));
}

void sandwich_fig2_matrix(const Measured&, Evidence& e) {
  const std::vector<double> got = window_of_two();
  for (size_t d = 0; d < got.size(); ++d)
    e.holds(concat("distance ", d), got[d] == (d < 2 ? 0.0 : -INFINITY), got[d],
            d < 2 ? "0" : "-inf");
}

// Figure 3: nine words, of which five are predicted.
std::vector<int64_t> predicted_words(int64_t longest) {
  eval::TokenStream words;
  words.size = 9;
  std::vector<int64_t> last =
      eval::draw_segments("last-token", words, longest, words.size - longest + 1, 1, false);
  for (int64_t& start : last) start += longest;  // counted from 1
  std::sort(last.begin(), last.end());
  return last;
}

void sandwich_fig3(const Measured&, Section& section) {
  ReportTable table;
  table.caption = "words that each predicted word is read after";
  table.header = {"predicted", "5 tokens", "3 tokens"};
  for (const int64_t word : predicted_words(5)) {
    std::vector<ReportTable::Field> row = {{concat("word ", word)}};
    for (const int64_t length : {5, 3})
      row.push_back({concat(word - length + 1, " to ", word - 1)});
    table.rows.push_back(std::move(row));
  }
  section.tables.push_back(std::move(table));
}

void sandwich_fig3_words(const Measured&, Evidence& e) {
  const std::vector<int64_t> words = predicted_words(5);
  e.holds("predicted words of nine", words == std::vector<int64_t>{5, 6, 7, 8, 9},
          static_cast<double>(words.size()), "the fifth to the ninth");
}

std::vector<double> sandwich_row(int width) {
  return bias_by_distance(concat("sandwich(bar_d=", width, ", h=8)"), 1, 0, kRow);
}

analysis::LineFit log_fit(const std::vector<double>& bias) {
  std::vector<double> distance(bias.size());
  for (size_t d = 0; d < bias.size(); ++d) distance[d] = static_cast<double>(d);
  return analysis::fit_log(distance, bias);
}

std::vector<double> logarithm(double slope, double offset) {
  std::vector<double> y(kRow);
  for (size_t d = 0; d < y.size(); ++d) y[d] = slope * std::log1p(static_cast<double>(d)) + offset;
  return y;
}

plot::Plot plot_of(std::vector<plot::Curve> curves) {
  plot::Plot plot = {.x_label = "distance (tokens)", .y_label = "bias", .curves = {}};
  plot.curves = std::move(curves);
  plot.is_log_x = false;
  plot.may_log_y = false;
  return plot;
}

void sandwich_fig8(const Measured&, Section& section) {
  ReportFigure figure;
  figure.caption = "the bias of Sandwich, h = 8, over query and key";
  figure.picture = inspect::bias_picture(encoding_at("sandwich(h=8)", 1, kRow), 1);
  section.figures.push_back(std::move(figure));
  const std::vector<double> row = sandwich_row(128);
  ReportTable table;
  table.caption = "the bias at some distances, h = 8, bar_d = 128";
  table.header = {"distance"};
  std::vector<ReportTable::Field> values = {{"bias"}};
  for (const size_t d : {0, 1, 10, 50, 100, 512, 1024, 2048, 4096, 8191}) {
    table.header.push_back(concat(d));
    values.push_back(field(row[d], 3));
  }
  table.rows.push_back(std::move(values));
  section.tables.push_back(std::move(table));
}

void sandwich_fig8_shape(const Measured&, Evidence& e) {
  const std::vector<double> row = sandwich_row(128);
  e.within("1 + the bias at distance 0", 1 + row[0], 1, 0);
  e.at_most("largest bias", *std::max_element(row.begin(), row.end()), 0);
  e.within("least bias", *std::min_element(row.begin(), row.end()), -9.698, 1e-4);
  const auto rises = std::adjacent_find(row.begin(), row.end(),
                                        [](double near, double far) { return far > near; });
  e.holds("first distance at which it rises", rises != row.end(),
          static_cast<double>(rises - row.begin()), "that there is one: it oscillates");
  const std::vector<double> other = bias_by_distance("sandwich", kHeads, 2, kRow);
  double most = 0;
  for (size_t d = 0; d < other.size(); ++d)
    most = std::max(most, std::abs(other[d] - row[d] * 8 / 2));  // h = 8 * 3 / 12
  e.at_most("head 3 of 12 less 8 / h times the curve of h = 8, at most", most, 1e-9);
}

void sandwich_fig9(const Measured&, Section& section) {
  const std::vector<double> row = sandwich_row(128);
  const analysis::LineFit whole_row = log_fit(row);
  const analysis::LineFit recent = log_fit({row.begin(), row.begin() + 50});
  ReportTable table;
  table.caption = "the nearest a ln(1 + d) + b, h = 8";
  table.header = {"points", "a", "b", "residual"};
  const std::string points = printed_scalar("sandwich/fig9", "points in the fit as implemented");
  table.rows = {{{concat("all ", kRow)},
                 field(whole_row.slope, 4),
                 field(whole_row.intercept, 4),
                 field(whole_row.residual, 4)},
                {{concat("the nearest ", points)},
                 field(recent.slope, 4),
                 field(recent.intercept, 4),
                 field(recent.residual, 4)}};
  section.tables.push_back(std::move(table));
  ReportTable printed;
  printed.is_papers = true;
  printed.caption = "printed: figure 9";
  printed.header = {"a", "b"};
  printed.rows = {{{printed_scalar("sandwich/fig9", "log fit slope")},
                   {printed_scalar("sandwich/fig9", "log fit offset")}}};
  section.tables.push_back(std::move(printed));
  section.figures.push_back({"the bias of h = 8 and its logarithm",
                             plot_of({bias_curve("Sandwich, h = 8", row),
                                      bias_curve(concat(fixed(whole_row.slope, 3), " ln(1 + d) ",
                                                        fixed(whole_row.intercept, 3)),
                                                 logarithm(whole_row.slope, whole_row.intercept)),
                                      bias_curve("of the nearest " + points,
                                                 logarithm(recent.slope, recent.intercept))})});
}

void s_f9_1(const Measured&, Evidence& e) {
  const analysis::LineFit fit = log_fit(sandwich_row(128));
  e.within("a", fit.slope, std::stod(printed_scalar("sandwich/fig9", "log fit slope")), 0.02);
  e.within("b", fit.intercept, std::stod(printed_scalar("sandwich/fig9", "log fit offset")), 0.02);
}

constexpr std::array kWidths = {64, 128, 256};

void sandwich_fig10(const Measured&, Section& section) {
  std::vector<plot::Curve> curves;
  ReportTable table;
  table.caption = "the bias of h = 8 by bar_d";
  table.header = {"bar_d", concat("at ", kRow - 1), "least"};
  for (const int width : kWidths) {
    const std::vector<double> row = sandwich_row(width);
    curves.push_back(bias_curve(concat("bar_d = ", width), row));
    table.rows.push_back({{concat(width)},
                          field(row.back(), 3),
                          field(*std::min_element(row.begin(), row.end()), 3)});
  }
  section.tables.push_back(std::move(table));
  section.figures.push_back({"the bias of h = 8 by bar_d", plot_of(std::move(curves))});
}

void s_f10_1(const Measured&, Evidence& e) {
  constexpr std::array kAt8191 = {-3.83, -8.10, -15.34};
  double before = 0;
  for (size_t i = 0; i < kWidths.size(); ++i) {
    const double last = sandwich_row(kWidths[i]).back();
    e.within(concat("bar_d = ", kWidths[i], ": bias at ", kRow - 1), last, kAt8191[i], 0.002);
    e.below(concat("bar_d = ", kWidths[i], ": deeper than the one before"), last, before);
    before = last;
  }
}

// Appendix E: sines, then cosines, of the positions; their products, divided by 8 n / 12.
std::vector<double> listed_row(int64_t head, int64_t length) {
  constexpr int kWidth = 128;
  const auto embedding = [](int64_t position) {
    std::array<double, kWidth> e{};
    for (size_t i = 0; i < kWidth / 2; ++i) {
      const double angle =
          static_cast<double>(position) / std::pow(10000.0, 2.0 * static_cast<double>(i) / kWidth);
      e[i] = std::sin(angle);
      e[i + kWidth / 2] = std::cos(angle);
    }
    return e;
  };
  const auto last = embedding(length - 1);
  std::vector<double> by_distance;
  for (int64_t d = 0; d < length; ++d) {
    const auto other = embedding(length - 1 - d);
    double product = 0;
    for (size_t i = 0; i < kWidth; ++i) product += last[i] * other[i];
    by_distance.push_back(product / (8.0 * static_cast<double>(head + 1) / kHeads));
  }
  return by_distance;
}

constexpr int64_t kListed = 512;

void listing(const Measured&, Evidence& e) {
  for (int64_t head = 0; head < kHeads; ++head) {
    const std::vector<double> ours = bias_by_distance("sandwich", kHeads, head, kListed);
    e.at_most(concat("head ", head + 1, ": largest difference of softmax"),
              largest_softmax_difference(listed_row(head, kListed), ours), 1e-6);
  }
}

// Section 6.3: the fitted logarithm is a kernel of KERPLE.
std::string kerple_of(int64_t head) {
  const double h = 8.0 * static_cast<double>(head + 1) / kHeads;
  return concat("kerple_log(r1=", shortest(6.6 / h), ", r2=1)");
}

void special_case(const Measured&, Evidence& e) {
  for (int64_t head = 0; head < kHeads; ++head)
    e.at_most(concat("head ", head + 1, ": largest difference of softmax"),
              largest_softmax_difference(
                  bias_by_distance("sandwich_smoothed(fit=published)", kHeads, head, kListed),
                  bias_by_distance(kerple_of(head), kHeads, head, kListed)),
              1e-6);
}

void special_case_curves(const Measured&, Section& section) {
  constexpr int64_t n = 200;
  std::vector<double> buckets;
  for (const int64_t bucket : buckets_of_t5(n)) buckets.push_back(-static_cast<double>(bucket) / 8);
  section.figures.push_back(
      {"the logarithm, Sandwich, and the buckets of T5, which grow with the logarithm",
       plot_of({bias_curve("Sandwich, h = 8", bias_by_distance("sandwich(h=8)", 1, 0, n)),
                bias_curve("-0.825 ln(1 + d)",
                           bias_by_distance("sandwich_smoothed(fit=published, h=8)", 1, 0, n)),
                bias_curve("-(bucket of T5) / 8", buckets)})});
}

void sandwich_table6(const Measured&, Section& section) {
  section.tables.push_back(datasets_table("sandwich", "6"));
}

constexpr const char* kPreset = "neox-162m";

void sandwich_table7(const Measured&, Section& section) {
  section.tables.push_back(settings_table("sandwich", "7", "162M", kPreset));
}

void sandwich_table7_settings(const Measured&, Evidence& e) {
  settings_agree("sandwich", "7", "162M", kPreset, e);
  e.within("parameters: 2 x 50304 x 768 + 12 x (12 x 768^2 + 13 x 768) + 2 x 768",
           static_cast<double>(parameter_count(preset(kPreset))), 162'322'944, 0);
}

Experiment sandwich_fact(int place, const char* id, const char* title, const char* where,
                         decltype(Experiment::compute) compute,
                         std::vector<Finding> findings = {}) {
  return without_models(place, concat("sandwich/", id), title, concat(kPaper, where), compute,
                        std::move(findings));
}

}  // namespace

std::vector<Experiment> sandwich_facts_rows() {
  return {
      sandwich_fact(10, "fig1", "what ALiBi takes from the scores", "figure 1", sandwich_fig1,
                    {own_finding("sandwich/fig1/matrix", sandwich_fig1_matrix,
                                 "ALiBi takes slope x distance from the score of a key")}),
      sandwich_fact(20, "fig2", "what a window does to the scores", "figure 2", sandwich_fig2,
                    {own_finding("sandwich/fig2/matrix", sandwich_fig2_matrix,
                                 "a window of 2 leaves the token itself and the one before")}),
      sandwich_fact(
          30, "fig3", "which tokens are predicted after how many", "figure 3", sandwich_fig3,
          {own_finding("sandwich/fig3/words", sandwich_fig3_words,
                       "of nine words the fifth to the ninth are predicted, at every length")}),
      sandwich_fact(
          40, "fig8", "the bias of Sandwich", "figure 8", sandwich_fig8,
          {own_finding(
              "sandwich/fig8/shape", sandwich_fig8_shape,
              "the bias is 0 at distance 0, never above, not monotone, at least -9.698; other "
              "heads have 8 / h times it")}),
      sandwich_fact(50, "fig9", "is the bias of Sandwich a logarithm?", "figure 9", sandwich_fig9,
                    {{.claim = "S-F9-1", .check = s_f9_1}}),
      sandwich_fact(60, "fig10", "the bias of Sandwich by the width of its vectors", "figure 10",
                    sandwich_fig10, {{.claim = "S-F10-1", .check = s_f10_1}}),
      sandwich_fact(
          70, "appendixE", "is the listing of the paper its equation (6)?", "appendix E", nullptr,
          {own_finding(
              "sandwich/appendixE/softmax", listing,
              "the listing, which does not take bar_d / 2 off, gives the softmax of equation (6) "
              "over 512 keys, to 1e-6")}),
      sandwich_fact(
          80, "kerple-special-case", "is the smoothed Sandwich a kernel of KERPLE?", "section 6.3",
          special_case_curves,
          {own_finding(
              "sandwich/kerple-special-case/softmax", special_case,
              "the published logarithm gives the attention of KERPLE-log with r1 = 6.6 / h and "
              "r2 = 1, to 1e-6")}),
      sandwich_fact(90, "table6", "the data sets", "table 6", sandwich_table6),
      sandwich_fact(
          100, "table7", "the model", "table 7", sandwich_table7,
          {own_finding(
              "sandwich/table7/settings", sandwich_table7_settings,
              "the preset neox-162m has the printed settings, and 162,322,944 parameters")}),
  };
}

}  // namespace farfield::sweep
