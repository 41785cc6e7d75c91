// Attention's tile loops, for the test vector_moves: compiled for instruction sets that this
// machine may not have.
#include "engine/cpu/attention_tile.h"

namespace farfield::attention_cpu {

template void tile_scores<Elements<float>>(const TileView&, const float*, int64_t, const float*,
                                           int64_t, float*, int64_t);
template void tile_scores<Elements<double>>(const TileView&, const double*, int64_t, const double*,
                                            int64_t, double*, int64_t);
template void add_over_keys<Elements<float>>(const TileView&, const float*, int64_t,
                                             const Columns<float>&, int64_t, float, float*,
                                             int64_t);
template void add_over_keys<Elements<double>>(const TileView&, const double*, int64_t,
                                              const Columns<double>&, int64_t, double, double*,
                                              int64_t);
template void add_over_queries<Elements<float>>(const TileView&, const float*, int64_t,
                                                const Columns<float>&, int64_t, float, float*,
                                                int64_t);
template void add_over_queries<Elements<double>>(const TileView&, const double*, int64_t,
                                                 const Columns<double>&, int64_t, double, double*,
                                                 int64_t);

}  // namespace farfield::attention_cpu
