#include "apps/train/tensorboard.h"

#include <chrono>

#include "apps/plot/plot.h"
#include "engine/base/error.h"
#include "posenc/score_tables.h"

namespace farfield::train {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool is_learned(const posenc::Composition& encoding) { return !encoding.parameters().empty(); }

plot::Plot plot_of(const posenc::ScoreTables& tables, bool is_bias) {
  plot::Plot plot;
  plot.x_label = "distance (tokens)";
  plot.y_label = is_bias ? "bias" : "weight";
  plot.is_log_x = false;
  plot.may_log_y = false;
  for (int64_t head = 0; head < tables.n_head; ++head) {
    plot::Curve curve{
        .label = concat("head ", head + 1),
        .colour = plot::ramp_colour(static_cast<size_t>(head), static_cast<size_t>(tables.n_head)),
        .has_markers = false};
    for (int64_t d = 0; d < tables.n_key; ++d)
      curve.points.push_back(
          {static_cast<double>(d), is_bias ? tables.bias_at(head, d) : tables.weight_at(head, d)});
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

}  // namespace

TensorBoard::TensorBoard(const std::filesystem::path& folder, int64_t step)
    : file_(folder, step + 1, now_s()) {}

void TensorBoard::add(const Metrics& row) {
  EventFile::Scalars scalars = {{"loss/train", static_cast<float>(row.loss)},
                                {"optimizer/lr", static_cast<float>(row.lr)},
                                {"optimizer/grad_norm", static_cast<float>(row.grad_norm)},
                                {"speed/tokens_per_s", static_cast<float>(row.tokens_per_s)},
                                {"speed/wait_share", static_cast<float>(row.wait_share)},
                                {"progress/tokens", static_cast<float>(row.tokens)},
                                {"progress/time_s", static_cast<float>(row.time_s)}};
  if (row.valid_loss) scalars.emplace_back("loss/valid", static_cast<float>(*row.valid_loss));
  file_.add_scalars(row.step, now_s(), scalars);
}

void TensorBoard::add_tables(int64_t step, const posenc::Composition& encoding,
                             std::string& why_not) {
  if (!is_learned(encoding)) return;
  for (const posenc::LayerTables& group : posenc::layer_tables(
           encoding.widened(), encoding.config().train_len, posenc::SameTables::bias_and_weight))
    for (const bool is_bias : {true, false}) {
      if (!(is_bias ? group.tables.has_bias : group.tables.has_weight)) continue;
      const plot::Plot plot = plot_of(group.tables, is_bias);
      const std::string png = plot::draw_or_say([&] { return plot::draw_png(plot); }, why_not);
      if (png.empty()) return;
      file_.add_image(step, now_s(),
                      concat("encoding/", plot.y_label, ", ", posenc::text_of_layers(group.layers)),
                      png);
    }
}

}  // namespace farfield::train
