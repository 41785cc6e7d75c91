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

ArgumentSpec base_argument();
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
