#include "layers/bands.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/ops/embedding.h"

namespace farfield {
namespace {

Tensor list_of(const std::vector<int32_t>& values, const Device& device) {
  if (values.empty()) return {};
  return Tensor::from(values, {static_cast<int64_t>(values.size())}, device);
}

}  // namespace

BandedIds split_by_band(const Tensor& ids, const std::vector<int64_t>& cutoffs,
                        int64_t vocab_size) {
  const Tensor here = ids.to(Device{});
  const int32_t* const id = here.data<int32_t>();
  const int64_t n = ids.numel();
  std::vector<std::vector<int32_t>> in_band(cutoffs.size() + 1), rows(cutoffs.size() + 1);
  std::vector<int32_t> band_of, classes;
  for (int64_t i = 0; i < n; ++i) {
    require<ShapeError>(id[i] >= 0 && id[i] < vocab_size, "bands", "expected ids from 0 to ",
                        vocab_size - 1, ", got ", id[i], " at position ", i);
    const auto band = static_cast<size_t>(std::upper_bound(cutoffs.begin(), cutoffs.end(), id[i]) -
                                          cutoffs.begin());
    const int64_t first = band == 0 ? 0 : cutoffs[band - 1];
    in_band[band].push_back(static_cast<int32_t>(id[i] - first));
    rows[band].push_back(static_cast<int32_t>(i));
    band_of.push_back(static_cast<int32_t>(band));
    classes.push_back(
        band == 0 ? id[i] : static_cast<int32_t>(cutoffs[0] + static_cast<int64_t>(band) - 1));
  }
  std::vector<int32_t> next;  // the place of the next of each band
  int32_t begin = 0;
  for (const auto& band : rows) {
    next.push_back(begin);
    begin += static_cast<int32_t>(band.size());
  }
  std::vector<int32_t> order;
  for (const int32_t band : band_of) order.push_back(next[static_cast<size_t>(band)]++);

  BandedIds result;
  for (size_t band = 0; band < rows.size(); ++band)
    result.bands.push_back(
        {list_of(in_band[band], ids.device()), list_of(rows[band], ids.device())});
  result.order = list_of(order, ids.device());
  result.classes = list_of(classes, ids.device());
  return result;
}

Tensor take_rows(const Tensor& x, const Tensor& rows) { return embedding(x, rows, x.dtype()); }

}  // namespace farfield
