#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "engine/device.h"

namespace farfield {

/// Which algorithm a device's library of matrix products is to use for a product, and what was
/// measured when it was chosen.
struct ProductChoice {
  /// The library's own words for it; all 0 where other calls than one of the library were faster.
  std::array<uint64_t, 8> algorithm = {};
  double time_us = 0;     ///< of one product
  double first_us = 0;    ///< of the algorithm that the library proposes first, itself perhaps
  int n_candidate = 0;    ///< that were measured
  double instead_us = 0;  ///< of the other calls; 0: there are none
  /// Whether it gave the same bits each time. Not only where none of those that were measured did;
  /// then it is the first of them. Files of before do not say, and are believed.
  bool repeats = true;
  bool is_none() const { return algorithm == decltype(algorithm){}; }
  bool operator==(const ProductChoice&) const = default;
};

/// The choices for the products of a program, on one kind of device with one version of the
/// library: with the same ones the same products have the same bits.
struct ProductChoices {
  std::string device, library;
  std::map<std::string, ProductChoice> of;  ///< by product: sizes, types, strides, alignment
  bool operator==(const ProductChoices&) const = default;
};

/// "26 measured, 9 faster by another algorithm than the one that cuBLASLt 130002 proposes first;
/// one of each takes 7.912 ms instead of 8.807"; where products can give dbias "; 3 with dbias take
/// 0.812 ms instead of 0.934 with a pass for it, kept for 1"; and "; " with what follows.
std::string summary(const ProductChoices& choices);
/// "2 give other bits each time, by whichever algorithm: a run with them does not repeat bit by
/// bit"; empty: all repeat.
std::string text_of_changing(const ProductChoices& choices);

/// As a file of JSON, with a checksum.
std::string to_text(const ProductChoices& choices);
/// What to_text() made. IoError, naming the file, for anything else.
ProductChoices parse_product_choices(const std::string& file, std::string_view text);

/// Calls work(), in which each product on the device that it has not met before is made by up to
/// eight algorithms that the library proposes, in turn, and is given the fastest of those that give
/// the same bits each time, the first of them where none does; where a product and a pass could
/// do as one product does, by these too. Products of before are met anew; afterwards all of these
/// choices hold. work() must not be recorded (StepGraph).
/// Throws    ConfigError on the CPU, whose library chooses by itself
ProductChoices tune_products(const Device& device, const std::function<void()>& work);

/// Has the products of a device made as the choices say, from now on; one that they do not name by
/// the algorithm that the library proposes first. None: all of them.
/// Throws    ConfigError on the CPU, and when they were made for another device or version of the
///           library; from a product, BackendError when the library does not know its algorithm
void use_product_choices(const Device& device, const ProductChoices& choices);

}  // namespace farfield
