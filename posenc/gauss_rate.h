#pragma once

#include "posenc/head_parameter.h"

namespace farfield::posenc {

/// The rate of a Gaussian-like kernel, U(0, 1) at the start. Its bound is the argument
/// gauss_rate_min: with the published 0.01 no kernel exp(-rate d^2) is wider than about 10 tokens.
/// ConfigError for a value below the bound.
HeadParameter gauss_rate(const Arguments& a, const Config& c, std::string_view argument);

ArgumentSpec gauss_rate_argument(std::string name);
ArgumentSpec gauss_rate_min_argument();

}  // namespace farfield::posenc
