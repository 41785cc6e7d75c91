#pragma once
// The rows of the registry, file by file, and the arguments that several of them share.

#include <string>
#include <vector>

#include "posenc/registry.h"

namespace farfield::posenc {

using Factory = std::unique_ptr<Encoding>(const Arguments&, const Config&);

std::vector<Row> input_rows();     ///< classes -, I
std::vector<Row> remap_rows();     ///< class P
std::vector<Row> rotation_rows();  ///< classes R, P2
std::vector<Row> rule_rows();      ///< classes M, S, N, LY
std::vector<Row> table_rows();     ///< classes T-b, T-w, T-bw, B

/// No length or number of positions is larger: a product of two is an int64, and a sum of two, less
/// one, an int32.
inline constexpr double kMostTokens = 1 << 30;

/// Hidden units of fire. The pieces of its network are n_head x hidden x (hidden + 1) float64
/// numbers, several times over in a step of training: 25 MB for 12 heads and 512 units, 1.6 GB for
/// 4096.
inline constexpr double kMostFireUnits = 512;

ArgumentSpec base_argument();
/// A number of tokens from 1 on, the training length unless given.
ArgumentSpec train_len_argument(std::string name, std::string meaning);
ArgumentSpec angle_argument();
ArgumentSpec layout_argument(std::vector<std::string> layouts);
/// `scale` and `original_length` as LengthScale reads them.
ArgumentSpec scale_or_auto_argument();
ArgumentSpec original_length_argument();
/// Taken by every encoding with an additive table.
ArgumentSpec bias_scale_argument();
/// Taken by every encoding with parameters that act on layers.
ArgumentSpec share_argument();
/// When an encoding acts; the first word is the default.
ArgumentSpec at_argument(std::vector<std::string> words = {"both", "eval"});

}  // namespace farfield::posenc
