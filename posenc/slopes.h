#pragma once

#include <memory>
#include <string>
#include <vector>

#include "posenc/arguments.h"
#include "posenc/encoding.h"

namespace farfield::posenc {

struct LengthChange;  // rescale.h

/// slope[h] = 2^(-8 (h + 1) / n_head): the series starts at 2^(-8/n_head), which is also its ratio.
std::vector<double> geometric_slopes(int64_t n_head);
/// The set of the authors' program and its descendants: the series of the largest power of two
/// k <= n_head, then every other member of the series of 2 k, from its first on.
std::vector<double> interpolated_slopes(int64_t n_head);

/// bias[h, d] = -slope[h] d, [H, 1] and [S] -> [H, S] in float64.
Tensor linear_bias(const Tensor& slope, const Positions& p);

/// The same for one head. IoError bad_parameter unless the slope is finite and above 0.
Decay linear_decay(double slope);

/// The argument "slopes": "interp", "geometric", or numbers; the first word is the default.
ArgumentSpec slopes_argument(std::vector<std::string> sets);
std::vector<double> read_slopes(const Arguments& a, const Config& c);
/// Row::rescale of alibi and alibi_shift: alibi_shift with another delta. A set of slopes by name
/// gives way to its default, since both sets are the same for 2^n heads, which small models have.
void rescale_slopes(ParsedTerm& term, const LengthChange& change);
/// The argument "slope_floor".
ArgumentSpec slope_floor_argument();

/// linear_bias() with slopes that are not trained, raised to the argument slope_floor.
std::unique_ptr<Encoding> fixed_slopes(std::vector<double> slopes, const Arguments& a,
                                       const Config& c);

}  // namespace farfield::posenc
