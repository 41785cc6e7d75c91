#include "apps/eval/results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "apps/analysis/timing.h"
#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/text_table.h"
#include "apps/eval/parameters.h"
#include "apps/eval/protocol.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"

namespace farfield::eval {
namespace {

// One row per run with its perplexities, and its bits per byte beneath if the size of a token is
// known; then the number of scored tokens, once if all runs agree.
std::string perplexity_table(const std::vector<RunResult>& results,
                             const std::vector<std::string>& labels) {
  const auto scored = [](const RunResult& r) {
    std::vector<std::string> row = {"tokens scored"};
    for (const LengthResult& cell : r.result.lengths)
      row.push_back(cell.failure.empty() ? std::to_string(cell.n_scored) : "");
    return row;
  };
  const bool is_same = std::all_of(results.begin(), results.end(), [&](const RunResult& r) {
    return scored(r) == scored(results.front());
  });
  std::vector<std::vector<std::string>> rows(1, {"encoding"});
  for (const LengthResult& cell : results.front().result.lengths)
    rows.front().push_back(std::to_string(cell.length));
  for (size_t i = 0; i < results.size(); ++i) {
    const RunResult& r = results[i];
    std::vector<std::string> perplexity = {labels[i]}, bits = {"  bits per byte"};
    bool has_bits = false;
    for (const LengthResult& cell : r.result.lengths) {
      perplexity.push_back(cell_text(cell, true));
      const bool is_known = cell.has_perplexity() && cell.bytes_per_token > 0;
      has_bits = has_bits || is_known;
      bits.push_back(is_known ? short_number(cell.bits_per_byte()) : "");
    }
    rows.push_back(std::move(perplexity));
    if (has_bits) rows.push_back(std::move(bits));
    if (is_same) continue;
    rows.push_back(scored(r));
    rows.back().front().insert(0, "  ");
  }
  if (is_same) rows.push_back(scored(results.front()));
  return cli::text_table(rows);
}

std::string text_of(const Quantity& quantity) {
  return quantity.word.empty() ? short_number(quantity.value) : quantity.word;
}

// The quantity of a cell, as text; "" if the cell has no quantity of this name.
std::string quantity_text(const LengthResult& cell, const std::string& name,
                          const std::string& of = {}) {
  for (const Quantity& quantity : cell.quantities)
    if (quantity.name == name && quantity.of == of) return text_of(quantity);
  return "";
}

// The same for a cell that may have failed: its failure code if it kept no such quantity.
std::string cell_or_quantity(const LengthResult& cell, const std::string& name) {
  std::string text = quantity_text(cell, name);
  return text.empty() && !cell.failure.empty() ? cell_text(cell, false) : text;
}

// " (n = 127)" beside a sum over the inputs of a pass.
std::string summed_over(const ProtocolResult& of, const LengthResult& cell,
                        const std::string& name) {
  const bool is_sum = name == "score_evaluations";
  return is_sum && cell.failure.empty() ? concat(" (n = ", n_inputs_of(of, cell.length), ')') : "";
}

// Names in the order in which they come.
std::vector<std::string> quantity_names(const std::vector<RunResult>& results) {
  std::vector<std::string> names;
  for (const RunResult& r : results)
    for (const LengthResult& cell : r.result.lengths)
      for (const Quantity& quantity : cell.quantities)
        if (std::find(names.begin(), names.end(), quantity.name) == names.end())
          names.push_back(quantity.name);
  return names;
}

// Quantities of heads: one row for each head and run, one column for each quantity.
std::string heads_table(const std::vector<RunResult>& results,
                        const std::vector<std::string>& labels) {
  const std::vector<std::string> names = quantity_names(results);
  std::vector<std::vector<std::string>> rows(1, {"encoding", "head"});
  rows.front().insert(rows.front().end(), names.begin(), names.end());
  for (size_t i = 0; i < results.size(); ++i) {
    for (const LengthResult& cell : results[i].result.lengths) {
      std::vector<std::string> done;
      for (const Quantity& quantity : cell.quantities) {
        if (std::find(done.begin(), done.end(), quantity.of) != done.end()) continue;
        done.push_back(quantity.of);
        rows.push_back({labels[i], quantity.of});
        for (const std::string& name : names)
          rows.back().push_back(quantity_text(cell, name, quantity.of));
      }
    }
  }
  return cli::text_table(rows);
}

bool is_of_heads(const std::vector<RunResult>& results) {
  for (const RunResult& r : results)
    for (const LengthResult& cell : r.result.lengths)
      for (const Quantity& quantity : cell.quantities)
        if (!quantity.of.empty()) return true;
  return false;
}

// The name of the column of a length.
std::string heading_of(const RunResult& of, const LengthResult& cell) {
  const std::string name = length_name(of.result.protocol, cell.length);
  return name.empty() ? "value" : name;
}

// One row for each quantity and run, one column for each length.
std::string quantities_table(const std::vector<RunResult>& results,
                             const std::vector<std::string>& labels) {
  if (is_of_heads(results)) return heads_table(results, labels);
  const std::vector<std::string> names = quantity_names(results);
  if (names.empty()) return "";
  std::vector<std::vector<std::string>> rows(1, {"encoding", "quantity"});
  for (const LengthResult& cell : results.front().result.lengths)
    rows.front().push_back(heading_of(results.front(), cell));
  for (const std::string& name : names) {
    for (size_t i = 0; i < results.size(); ++i) {
      rows.push_back({labels[i], name});
      for (const LengthResult& cell : results[i].result.lengths)
        rows.back().push_back(cell_or_quantity(cell, name) +
                              summed_over(results[i].result, cell, name));
    }
  }
  return cli::text_table(rows);
}

// Seconds per step against the first run's seconds, if there are several runs.
std::string speed_table(const std::vector<RunResult>& results,
                        const std::vector<std::string>& labels) {
  const auto step_s = [](const RunResult& r) {
    for (const LengthResult& cell : r.result.lengths)
      for (const Quantity& quantity : cell.quantities)
        if (quantity.name == "train_step_s") return quantity.value;
    return std::nan("");
  };
  const double first_s = step_s(results.front());
  if (results.size() < 2 || std::isnan(first_s)) return "";
  std::vector<std::vector<std::string>> rows = {
      {"encoding", "s/step", "ratio to " + labels[0], "percent faster"}};
  for (size_t i = 0; i < results.size(); ++i) {
    const double own_s = step_s(results[i]);
    if (std::isnan(own_s)) continue;
    rows.push_back({labels[i], short_number(own_s), short_number(own_s / first_s),
                    i == 0 ? "" : fixed(analysis::percent_faster(own_s, first_s), 1)});
  }
  return cli::text_table(rows);
}

// The protocol, its text and the meaning of ±.
std::string heading(const std::vector<RunResult>& results) {
  const RunResult& first = results.front();
  const Protocol* const protocol = protocol_of(first.result);
  const std::string split = concat(", ", first.split, " split");
  if (has_perplexity(results))
    return concat(first.result.protocol, " perplexity ± standard error", split, '\n');
  return concat(first.result.protocol, protocol != nullptr && protocol->has_text ? split : "",
                protocol != nullptr ? ": " + protocol->help : "", '\n');
}

// The meaning of ±, if some cell has a standard error.
std::string error_remark(const std::vector<RunResult>& results) {
  bool has_error = false, has_draws = false;
  for (const RunResult& r : results) {
    for (const LengthResult& cell : r.result.lengths) {
      if (!cell.failure.empty() || !std::isfinite(cell.perplexity_error())) continue;
      has_error = true;
      has_draws = has_draws || cell.n_draws > 1;
    }
  }
  if (!has_error) return "";
  return concat(
      "± is the standard error over segments of the text; it does not include the difference "
      "between training seeds",
      has_draws ? "; draws ± is the standard deviation over draws of positions" : "", '\n');
}

// The labels of the runs of each choice of parameters, in the order in which the choices come.
std::vector<std::pair<const ProtocolResult*, std::vector<std::string>>> by_parameters(
    const std::vector<RunResult>& results, const std::vector<std::string>& labels) {
  std::vector<std::pair<const ProtocolResult*, std::vector<std::string>>> all;
  for (size_t i = 0; i < results.size(); ++i) {
    const ProtocolResult& own = results[i].result;
    auto same = std::find_if(all.begin(), all.end(), [&](const auto& other) {
      return other.first->parameters == own.parameters;
    });
    if (same == all.end()) same = all.insert(all.end(), {&own, {}});
    same->second.push_back(labels[i]);
  }
  return all;
}

// A remark on runs that were measured with different parameters, such as text of different size.
std::string parameters_remark(const std::vector<RunResult>& results,
                              const std::vector<std::string>& labels) {
  const auto all = by_parameters(results, labels);
  std::vector<std::string> parameters, parts;
  for (const auto& one : all) parameters.push_back(one.first->parameters);
  for (const auto& [of, runs] : all)
    if (const std::string own = differing_parameters(of->parameters, parameters); !own.empty())
      parts.push_back(concat(own, " for ", joined(runs)));
  return parts.empty()
             ? ""
             : cli::printable(concat("measured differently: ", joined(parts, "; "), '\n'));
}

// "protocol: last-token segments=200 ..., hash 0092d913b3e299bb"
std::string protocol_lines(const std::vector<RunResult>& results,
                           const std::vector<std::string>& labels) {
  const auto all = by_parameters(results, labels);
  std::string text;
  for (const auto& [of, runs] : all)
    text +=
        concat("protocol: ", of->protocol, of->parameters.empty() ? "" : " ", of->parameters,
               ", hash ", of->hash(), all.size() > 1 ? concat(", for ", joined(runs)) : "", '\n');
  return cli::printable(text);
}

// The facts outside the protocol hash that a reader needs to compute the numbers again; "" if there
// are none.
std::string besides_the_hash(const std::vector<RunResult>& results) {
  const RunResult& first = results.front();
  const bool is_one_order = std::all_of(results.begin(), results.end(), [&](const RunResult& r) {
    return r.document_order == first.document_order;
  });
  std::string text;
  if (!first.document_order.empty())
    text = "document order: " + (is_one_order ? first.document_order : "seed or file");
  if (const std::string more = conventions_of(first.result); !more.empty())
    text += (text.empty() ? "" : "; ") + more;
  return text.empty() ? "" : "not in the hash: " + text + '\n';
}

}  // namespace

bool is_changed(const RunResult& r) { return r.posenc != r.trained_posenc || !r.baseline.empty(); }

std::vector<std::string> labels_of(const std::vector<RunResult>& results) {
  std::vector<std::string> labels;
  std::vector<run::Settings> settings;
  for (const RunResult& r : results) {
    labels.push_back(run::encoding_label(r.name, r.posenc, r.trained_posenc, r.baseline));
    settings.push_back(r.setting);
  }
  const auto is_alone = [](const std::vector<std::string>& all, const std::string& label) {
    return std::count(all.begin(), all.end(), label) == 1;
  };
  // A name that its user gave to only one run is enough.
  const std::vector<std::string> names = labels, differences = run::differences_of(settings);
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].name.empty() || !is_alone(names, names[i])) labels[i] += differences[i];
  const std::vector<std::string> told = labels;
  for (size_t i = 0; i < results.size(); ++i)
    if (!is_alone(told, told[i])) labels[i] += " (" + results[i].run + ")";
  return labels;
}

bool has_perplexity(const std::vector<RunResult>& results) {
  for (const RunResult& r : results)
    for (const LengthResult& cell : r.result.lengths)
      if (cell.has_perplexity()) return true;
  return false;
}

std::string file_stem(const std::vector<RunResult>& results) {
  const std::string& protocol = results.front().result.protocol;
  const std::string& name = results.front().name;
  const bool is_one_name =
      !name.empty() && std::all_of(results.begin(), results.end(),
                                   [&](const RunResult& r) { return r.name == name; });
  const std::string begin = is_one_name ? protocol + '-' + run::file_word(name) : protocol;
  if (std::none_of(results.begin(), results.end(), is_changed)) return begin;
  std::set<std::string> slugs;
  std::string all;
  for (const RunResult& r : results) {
    const std::string slug = r.posenc_slug + (r.baseline.empty() ? "" : '-' + r.baseline);
    if (slugs.insert(slug).second) all += slug + '\n';
  }
  return begin + '-' + (slugs.size() == 1 ? *slugs.begin() : hash_hex(all).substr(0, 8));
}

std::string short_number(double value) {
  char text[32];
  if (!std::isfinite(value)) {
    std::snprintf(text, sizeof text, "%s", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  } else if (value >= 1000 && value < 1e6) {
    std::snprintf(text, sizeof text, "%.0f", value);
  } else {
    std::snprintf(text, sizeof text, value >= 1e6 ? "%.3g" : "%.4g", value);
  }
  return text;
}

std::string cell_text(const LengthResult& cell, bool with_error) {
  if (cell.failure.find("nonfinite_") == 0 || cell.failure == "zero_gradient") return "nan";
  if (!cell.failure.empty()) return cell.failure;
  std::string text = short_number(cell.perplexity());
  if (with_error && std::isfinite(cell.perplexity_error())) {
    char error[32];
    std::snprintf(error, sizeof error, "%.2g", cell.perplexity_error());
    text.append(" ± ").append(error);
    if (cell.n_draws > 1) {
      std::snprintf(error, sizeof error, "%.2g", cell.perplexity_spread);
      text.append(" (draws ± ").append(error).append(")");
    }
  }
  return text;
}

std::vector<Quantity> numbers_of(const LengthResult& cell) {
  std::vector<Quantity> all;
  if (cell.has_perplexity()) {
    all = {{"perplexity", cell.perplexity()},
           {"perplexity_error", cell.perplexity_error()},
           {"nll", cell.mean_nll},
           {"nll_error", cell.nll_error}};
    if (cell.bytes_per_token > 0) all.push_back({"bits_per_byte", cell.bits_per_byte()});
    all.push_back({"scored_tokens", static_cast<double>(cell.n_scored)});
    all.push_back({"items", static_cast<double>(cell.items.size())});
  }
  all.insert(all.end(), cell.quantities.begin(), cell.quantities.end());
  if (cell.n_draws == 1) return all;
  all.push_back({"draws", static_cast<double>(cell.n_draws)});
  if (!cell.has_perplexity()) return all;
  all.push_back({"nll_spread", cell.nll_spread});
  all.push_back({"perplexity_spread", cell.perplexity_spread});
  return all;
}

std::string results_table(const std::vector<RunResult>& results, bool is_verbose) {
  if (results.empty()) return "";
  const std::vector<std::string> labels = labels_of(results);
  std::string text = heading(results);
  if (has_perplexity(results)) text += perplexity_table(results, labels);
  text += quantities_table(results, labels) + speed_table(results, labels);
  std::vector<std::string> names;
  for (const RunResult& r : results)
    names.push_back(run::encoding_name(r.posenc, r.trained_posenc, r.baseline));
  text += run::cut_terms_text(names, labels);
  text += error_remark(results) + parameters_remark(results, labels);
  if (is_verbose) text += protocol_lines(results, labels) + besides_the_hash(results);
  for (size_t i = 0; i < results.size(); ++i)
    for (const LengthResult& cell : results[i].result.lengths)
      if (!cell.failure.empty())
        text += cli::printable(concat(labels[i], " at ", cell.length, ": ", cell.message, '\n'));
  for (size_t i = 0; i < results.size(); ++i) {
    for (const LengthResult& cell : results[i].result.lengths) {
      const std::string length = length_name(results[i].result.protocol, cell.length);
      for (const std::string& note : cell.notes)
        text += concat(labels[i], length.empty() ? "" : " at " + length, ": ", note, '\n');
    }
  }
  return text;
}

}  // namespace farfield::eval
