#include "apps/sweep/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <system_error>

#include "apps/cli/csv.h"
#include "apps/cli/options.h"
#include "apps/eval/results.h"
#include "apps/plot/svg.h"
#include "apps/sweep/arms.h"
#include "apps/sweep/findings.h"
#include "apps/sweep/given_run.h"
#include "apps/sweep/sections.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace fs = std::filesystem;

namespace farfield::sweep {
namespace {

std::string words_of(const Results& results, const std::string& name) {
  std::set<std::string> all;
  for (const auto& [hash, result] : results.all()) {
    const auto found = result.words.find(name);
    if (found != result.words.end()) all.insert(found->second);
  }
  return joined(all);
}

// What processors of different widths agree on.
std::string eight_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.8g", x);
  return std::isfinite(x) ? text : cli::number(x);
}

// The data sets that each corpus stands for: all named ones, and of the experiments those without a
// text of their own.
std::map<std::string, std::set<std::string>> names_by_corpus(const SweepFolder& folder,
                                                             const std::vector<Plan>& plans) {
  std::map<std::string, std::set<std::string>> names;
  for (const auto& [name, corpus] : folder.options().datasets.names()) names[corpus].insert(name);
  for (const Plan& plan : plans)
    for (const std::string& name : plan.experiment->datasets)
      if (const auto found = names.find(folder.options().datasets.corpus_of(name));
          found != names.end() && !plan.arms.empty())
        found->second.insert(name);
  return names;
}

// Two panels stand beside each other, or on a page that may be narrow in pictures of their own.
std::vector<plot::PlotRequest> requests_of(const ReportFigure& figure, const plot::PlotSize& size) {
  if (!plot::has_points(figure.near)) return {{&figure.plot, nullptr, size}};
  if (size.has_title) return {{&figure.plot, &figure.near, {980, 430, size.font, true}}};
  return {{&figure.plot, nullptr, size}, {&figure.near, nullptr, size}};
}

}  // namespace

Report report_of(const SweepFolder& folder, const Results& results) {
  Report report;
  const Scale scale = folder.options().scale;
  const std::shared_ptr<const GivenRun> given = folder.options().given;
  report.title =
      concat("Length extrapolation", given ? " of a given run: scale " : ", measured again: scale ",
             to_word(scale));
  report.scale = to_word(folder.options().scale);
  const std::vector<Plan> plans = folder.plans();
  report.has_papers = std::any_of(plans.begin(), plans.end(),
                                  [](const Plan& plan) { return !plan.experiment->is_own; });
  const bool has_own = std::any_of(plans.begin(), plans.end(),
                                   [](const Plan& plan) { return plan.experiment->is_own; });
  constexpr const char* kOwn = "a grid of your own is told in its section, encodings as written";
  if (given) report.facts.emplace_back("given run", describe(*given));
  report.facts.emplace_back("scale", given                ? describe_for_given(scale, *given)
                                     : !report.has_papers ? concat(to_word(scale), "; ", kOwn)
                                     : has_own            ? concat(describe(scale), "; ", kOwn)
                                                          : describe(scale));
  for (const auto& [corpus, names] : names_by_corpus(folder, plans))
    report.facts.emplace_back(concat("text for ", joined(names)),
                              folder.options().datasets.corpus(corpus).description);
  if (!results.all().empty()) {
    report.facts.emplace_back("program", concat("Farfield, commit ", words_of(results, "commit")));
    report.facts.emplace_back(
        "machine", concat(words_of(results, "processor"), "; ", words_of(results, "device"), ", ",
                          words_of(results, "precision")));
  }
  for (const Plan& plan : plans) report.sections.push_back(section_of(plan, results));
  return report;
}

std::string figure_name(const Section& section, size_t i) {
  std::string name = section.id;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '-';
  return concat(name, '-', i + 1, ".svg");
}

std::vector<std::vector<std::string>> drawn_figures(const Report& report,
                                                    const plot::PlotSize& size, std::string& why) {
  std::vector<std::vector<std::string>> all;
  for (const Section& section : report.sections) all.emplace_back(section.figures.size());
  std::vector<plot::PlotRequest> requests;  // drawn together, which is faster
  std::vector<std::string*> targets;
  for (size_t s = 0; s < all.size(); ++s)
    for (size_t i = 0; i < all[s].size(); ++i) {
      const ReportFigure& figure = report.sections[s].figures[i];
      if (figure.picture.n > 0 || !figure.map.rows.empty()) {
        all[s][i] = plot::draw_or_say(
            [&] {
              return figure.picture.n > 0 ? plot::draw_svg(figure.picture)
                                          : plot::draw_svg(figure.map);
            },
            why);
        continue;
      }
      for (const plot::PlotRequest& request : requests_of(figure, size)) {
        requests.push_back(request);
        targets.push_back(&all[s][i]);
      }
    }
  std::vector<std::string> pictures;
  plot::draw_or_say(
      [&] {
        pictures = plot::draw_svgs(requests);
        return "";
      },
      why);
  for (size_t i = 0; i < pictures.size(); ++i)
    *targets[i] += targets[i]->empty() ? pictures[i] : plot::inlined(pictures[i]);
  return all;
}

std::string claims_csv(const Report& report) {
  std::string text = cli::csv_row({"claim", "experiment", "scope", "in_paper", "as_printed",
                                   "verdict", "seeds", "statement", "asked", "question", "number",
                                   "value", "by_seed", "condition", "holds"});
  for (const Section& section : report.sections)
    for (const Judgement& j : section.judgements) {
      const std::vector<std::string> begin = {j.claim,
                                              section.id,
                                              j.scope,
                                              j.in_paper,
                                              to_word(printed_answer(j)),
                                              to_word(j.evidence.verdict()),
                                              j.has_models ? concat(j.evidence.n_seed()) : "",
                                              j.statement,
                                              j.asked};
      const auto add = [&](const std::vector<std::string>& more) {
        std::vector<std::string> row = begin;
        row.insert(row.end(), more.begin(), more.end());
        text += cli::csv_row(row);
      };
      if (j.evidence.items().empty() && j.printed.items().empty()) add({"", "", "", "", "", ""});
      const auto add_items = [&](const char* question, const Evidence& evidence) {
        for (const Evidence::Item& item : evidence.items())
          add({question, item.what, eight_digits(item.value),
               joined(item.by_seed, " ", eight_digits), item.condition,
               item.is_missing ? "not measured"
               : !item.is_sure ? "undecided"
               : item.holds    ? "yes"
                               : "no"});
      };
      add_items("as printed", j.printed);
      add_items("here", j.evidence);
    }
  return text;
}

std::string report_csv(const SweepFolder& folder, const Results& results) {
  std::string text = cli::csv_row({"experiment", "dataset", "text", "model", "posenc",
                                   "trained_posenc", "seed", "measure", "protocol", "parameters",
                                   "length", "quantity", "value", "printed_mean", "printed_std"});
  for (const Plan& plan : folder.plans()) {
    const Experiment& e = *plan.experiment;
    const std::vector<PrintedNumber> printed = printed_numbers_of(e.reference);
    for (const PlannedDataset& dataset : plan.datasets) {
      const Measured m(plan, dataset, results);
      for (const PlannedArm& arm : plan.arms)
        for (size_t s = 0; s < plan.seeds.size(); ++s)
          for (const Measure& measure : e.measures) {
            const eval::ProtocolResult* const found = m.result(arm, measure.key, s);
            if (found == nullptr) continue;
            for (size_t i = 0; i < found->lengths.size(); ++i) {
              const eval::LengthResult& of = found->lengths[i];
              std::string mean, std;
              if (i < measure.lengths.size())
                for (const PrintedNumber& n : printed)
                  if (is_of(n, arm.arm) && m.dataset_named(n.dataset) == &dataset &&
                      n.length == concat(tokens_of(Scale::paper, measure.lengths[i]))) {
                    mean = n.mean;
                    std = n.std;
                  }
              for (const eval::Quantity& q : eval::numbers_of(of)) {
                if (q.name == "items") continue;  // results have none
                const bool is_main = q.full_name() == "perplexity";
                text +=
                    cli::csv_row({e.id, dataset.name, dataset.corpus, arm.label(),
                                  arm.measured_posenc.empty() ? arm.posenc : arm.measured_posenc,
                                  arm.posenc, concat(plan.seeds[s]), measure.key, found->protocol,
                                  found->parameters, concat(of.length), q.full_name(),
                                  cli::number(q.value), is_main ? mean : "", is_main ? std : ""});
              }
            }
          }
    }
  }
  return text;
}

Report write_report(const fs::path& to, const SweepFolder& folder, const Results& results,
                    std::string& why) {
  Report report = report_of(folder, results);
  std::error_code status;
  if (fs::exists(to / "report.md", status))  // figures of an earlier report
    for (const auto& entry : fs::directory_iterator(to / "figures", status))
      if (entry.path().extension() == ".svg") fs::remove(entry.path(), status);
  require_writable_folder(to / "figures");
  const auto figures = drawn_figures(report, {720, 400, 14, true}, why);
  for (size_t s = 0; s < figures.size(); ++s)
    for (size_t i = 0; i < figures[s].size(); ++i)
      if (!figures[s][i].empty())
        write_file_atomic(to / "figures" / figure_name(report.sections[s], i), figures[s][i]);
  write_file_atomic(to / "report.md", report_markdown(report, figures));
  write_file_atomic(to / "index.html",
                    report_html(report, drawn_figures(report, plot::kPagePlot, why)));
  write_file_atomic(to / "report.csv", report_csv(folder, results));
  write_file_atomic(to / "claims.csv", claims_csv(report));
  return report;
}

}  // namespace farfield::sweep
