#include "apps/inspect/show.h"

#include <algorithm>
#include <cmath>

#include "apps/cli/text_table.h"
#include "engine/base/error.h"
#include "posenc/score_tables.h"

namespace farfield::inspect {
namespace {

posenc::ScoreTables tables_of(const Subject& s) {
  const auto plan = s.plan();
  return posenc::score_tables(s.layer_of(plan).rule, s.config().n_head, s.spot.n_key);
}

// No value for NaN.
cli::Cell cell_of(double value, Format format) {
  return std::isnan(value) ? cli::Cell::missing("") : cli::Cell(value, format(value));
}

// Distances down, heads across, so many to a block that it fits on a terminal.
std::string blocks(const char* what, const posenc::ScoreTables& tables,
                   const std::vector<int64_t>& distances, bool is_bias) {
  constexpr int64_t kAcross = 8;
  std::string text;
  for (int64_t first = 0; first < tables.n_head; first += kAcross) {
    const int64_t end = std::min(first + kAcross, tables.n_head);
    std::vector<std::vector<std::string>> rows(1, {what});
    for (int64_t head = first; head < end; ++head) rows[0].push_back(concat("head ", head + 1));
    for (const int64_t d : distances) {
      rows.push_back({std::to_string(d)});
      for (int64_t head = first; head < end; ++head)
        rows.back().push_back(brief(is_bias ? tables.bias_at(head, d) : tables.weight_at(head, d)));
    }
    text += cli::text_table(rows, 2) + '\n';
  }
  return text;
}

std::string normalizer_text(const Normalizer& n) {
  using Kind = Normalizer::Kind;
  switch (n.kind) {
    case Kind::softmax:
      break;
    case Kind::relu:
      return concat("normaliser: max(0, score) / (", brief(n.parameter), " sqrt(keys / 2))\n");
    case Kind::relu_seqlen:
      return "normaliser: max(0, score) / keys\n";
    case Kind::relu_plain:
      return "normaliser: max(0, score)\n";
    case Kind::clamp_absolute:
      return concat("normaliser: softmax of scores from ", brief(n.parameter), " on\n");
    case Kind::clamp_relative:
      return concat("normaliser: softmax of scores down to ", brief(n.parameter),
                    " below the largest\n");
    case Kind::linear:
      return "normaliser: scores of elu(q) + 1 and elu(k) + 1, divided by their sum\n";
    case Kind::landmark:
      return concat("normaliser: softmax by blocks of ", n.block, " tokens and a landmark each\n");
  }
  return "";
}

// A flat line would look like a measurement.
void require_drawable(bool is_drawable, const Subject& subject, const char* table) {
  if (is_drawable) return;
  const auto plan = subject.plan();
  const bool rotates = subject.layer_of(plan).rotation.cos.defined();
  fail<ConfigError>("inspect", "--svg: ", subject.name(), " has no ", table, " to draw",
                    rotates ? "; --rotation prints its frequencies" : "");
}

}  // namespace

Cells table_cells(const Subject& s, const std::vector<int64_t>& distances, Format format) {
  const posenc::ScoreTables tables = tables_of(s);
  Cells rows;
  for (int64_t head = 0; head < tables.n_head; ++head)
    for (const int64_t d : distances)
      rows.push_back({head + 1, d, cell_of(tables.bias_at(head, d), format),
                      cell_of(tables.weight_at(head, d), format)});
  return rows;
}

Cells position_cells(const Subject& s, Format format) {
  Cells rows;
  for (const RemappedPosition& p : remapped_positions(s.encoding, s.spot))
    rows.push_back({rows.size(), cell_of(p.id, format), cell_of(p.distance, format)});
  return rows;
}

Cells pair_cells(const Subject& s, int64_t position, Format format) {
  Cells rows;
  for (const TurnedPair& p : turned_pairs(s.encoding, s.spot, position))
    rows.push_back({rows.size(), cell_of(p.frequency, format), cell_of(p.scale_q, format),
                    cell_of(p.scale_k, format), cell_of(p.far_frequency_q, format),
                    cell_of(p.far_frequency_k, format)});
  require<ConfigError>(!rows.empty(), "inspect",
                       "--rotation: expected an encoding that rotates, got '", s.name(),
                       "', which does not on layer ", s.spot.layer);
  return rows;
}

Cells parameter_cells(const Subject& s, Format format) {
  Cells rows;
  for (const Parameter& p : s.encoding.parameters()) {
    const std::vector<double> values = p.value.to_vector();
    for (size_t i = 0; i < values.size(); ++i)
      rows.push_back({p.name, i + 1, cell_of(values[i], format)});
  }
  return rows;
}

std::string heading(const Subject& s) {
  const posenc::Config& c = s.config();
  return concat(s.name(), '\n', c.n_head, " heads of ", c.head_dim, ", layer ", s.spot.layer,
                " of ", c.n_layer, ", training length ", c.train_len, "; ", s.spot.n_key,
                " tokens in ", s.spot.phase == posenc::Phase::eval ? "evaluation" : "training",
                "\n\n");
}

std::string tables_text(const Subject& s, const std::vector<int64_t>& distances) {
  const auto plan = s.plan();
  const auto& [rotation, rule] = s.layer_of(plan);
  const posenc::ScoreTables tables = posenc::score_tables(rule, s.config().n_head, s.spot.n_key);
  std::string text = heading(s);
  if (tables.has_bias) text += blocks("bias by distance", tables, distances, true);
  if (tables.has_weight) text += blocks("weight by distance", tables, distances, false);
  if (!tables.has_bias && !tables.has_weight)
    text += "tables: none, every distance has bias 0 and weight 1\n";
  if (rule.window > 0)
    text += concat("mask: the last ", rule.window, " tokens are seen",
                   rule.sinks > 0 ? concat(", and the first ", rule.sinks) : "", '\n');
  if (rule.row_scale.defined())
    text += concat("row scale: scores of this query times ",
                   brief(rule.row_scale.to_vector().back()), '\n');
  if (rule.switch_distance > 0)
    text += concat("two branches: the far one from distance ", rule.switch_distance, " on\n");
  text += normalizer_text(rule.normalizer);
  if (rotation.cos.defined())
    text += concat("rotation: ", rotation.cos.shape()[-1], " pairs of components (--rotation)\n");
  if (plan.embedding.defined()) text += "input: a vector per position is added\n";
  if (plan.token_scale != 1)
    text += concat("input: token vectors times ", brief(plan.token_scale), '\n');
  if (s.encoding.is_random(s.spot.phase))
    text += concat("random positions: draw ", s.spot.draw, " (--draw)\n");
  for (const Parameter& p : s.encoding.parameters())
    text += concat("learned: ", p.name, ' ', p.value.shape(), " (--parameters)\n");
  return text;
}

plot::Plot tables_plot(const std::vector<Subject>& subjects, const std::vector<int64_t>& distances,
                       bool is_bias, bool is_log) {
  plot::Plot plot;
  plot.x_label = "distance (tokens)";
  plot.y_label = is_bias ? "bias" : "weight";
  plot.title = subjects.size() == 1 ? subjects[0].name() : plot.y_label + " by distance";
  plot.is_log_x = is_log;
  plot.may_log_y = false;
  require_drawable(std::any_of(subjects.begin(), subjects.end(),
                               [&](const Subject& s) {
                                 const posenc::ScoreTables tables = tables_of(s);
                                 return is_bias ? tables.has_bias : tables.has_weight;
                               }),
                   subjects.front(), is_bias ? "bias" : "weight");
  const int64_t train_len = subjects[0].config().train_len;
  if (*std::max_element(distances.begin(), distances.end()) >= train_len) {
    plot.marked_x = static_cast<double>(train_len);
    plot.marked_label = "training length";
  }
  for (size_t i = 0; i < subjects.size(); ++i) {
    const posenc::ScoreTables tables = tables_of(subjects[i]);
    for (int64_t head = 0; head < tables.n_head; ++head) {
      plot::Curve curve{
          .label = subjects[i].name(), .style = static_cast<int>(i), .has_markers = false};
      if (tables.n_head > 1) {
        const std::string place = concat("head ", head + 1);
        curve.label = subjects.size() == 1 ? place : curve.label + ", " + place;
        curve.colour =
            plot::ramp_colour(static_cast<size_t>(head), static_cast<size_t>(tables.n_head));
      }
      for (const int64_t d : distances)
        if (d > 0 || !is_log)
          curve.points.push_back({static_cast<double>(d),
                                  is_bias ? tables.bias_at(head, d) : tables.weight_at(head, d)});
      plot.curves.push_back(std::move(curve));
    }
  }
  return plot;
}

plot::Picture bias_picture(const Subject& subject, int64_t head) {
  constexpr int64_t kMostRows = 256;
  const int64_t length = subject.spot.n_key, n_head = subject.config().n_head;
  require<ConfigError>(head >= 1 && head <= n_head, "inspect",
                       "--image: expected a head from 1 to ", n_head, ", got ", head);
  const int64_t step = (length + kMostRows - 1) / kMostRows;
  plot::Picture picture;
  picture.title = concat(subject.name(), n_head > 1 ? concat(", head ", head) : "");
  picture.x_label = "key";
  picture.y_label = "query";
  picture.n = (length + step - 1) / step;
  picture.step = static_cast<double>(step);
  const auto plan =
      subject.encoding.plan(length, length, subject.spot.phase, {1, subject.spot.draw});
  const AttentionRule& rule = subject.layer_of(plan).rule;
  require_drawable(posenc::score_tables(rule, n_head, length, length, length - 1).has_bias, subject,
                   "bias");
  for (int64_t query = 0; query < length; query += step) {
    const posenc::ScoreTables tables = posenc::score_tables(rule, n_head, length, length, query);
    for (int64_t key = 0; key < length; key += step)
      picture.values.push_back(key > query ? std::nan("") : tables.bias_at(head - 1, query - key));
  }
  return picture;
}

}  // namespace farfield::inspect
