#include "layers/dropout.h"

#include "engine/base/error.h"

namespace farfield {

Random LayerDropout::random(std::string_view place) const {
  return {seed, dropout_stream(draw, layer, place)};
}

Tensor LayerDropout::stream(std::string_view place) const {
  return streams == nullptr ? Tensor() : streams->of(layer, place);
}

Tensor LayerDropout::masked(const Tensor& x, double share, std::string_view place,
                            const Columns& columns) const {
  if (share == 0) return x;
  const int64_t n_row = x.numel() / x.dim(-1) / n_sequence,
                n_column = columns.n_whole == 0 ? x.dim(-1) : columns.n_whole;
  return dropout(x, share, random(place), n_row * n_column * first, columns, stream(place));
}

}  // namespace farfield
