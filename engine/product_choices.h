#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "engine/device.h"

namespace farfield {

/// The algorithm of a device's matrix product library for one product, and the measurements behind
/// the choice.
struct ProductChoice {
  /// The library's own description; all 0 if other calls (`instead`) were faster.
  std::array<uint64_t, 8> algorithm = {};
  double time_us = 0;     ///< of one product
  double first_us = 0;    ///< of the library's first proposal, which may be this algorithm
  int n_candidate = 0;    ///< number of measured algorithms
  double instead_us = 0;  ///< time of the other calls; 0: none exist
  /// Whether the algorithm gave the same bits each time. false only if no measured algorithm did;
  /// then it is the first of them. Files without this key count as true.
  bool repeats = true;
  bool is_none() const { return algorithm == decltype(algorithm){}; }
  bool operator==(const ProductChoice&) const = default;
};

/// The choices for the products of a program, on one kind of device with one version of the
/// library: with the same choices the same products have the same bits.
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
/// The inverse of to_text(). IoError, naming the file, for any other text.
ProductChoices parse_product_choices(const std::string& file, std::string_view text);

/// Calls work() and tunes each product that it makes on the device. The first time a product
/// occurs, up to eight algorithms that the library proposes make it in turn. The product gets the
/// fastest algorithm that gives the same bits each time, or the first one if none does. Where a
/// product and a pass can replace one product, they are measured too. Earlier choices are dropped;
/// afterwards the new choices hold. work() must not be recorded (StepGraph).
/// Throws    ConfigError on the CPU, whose library chooses by itself
ProductChoices tune_products(const Device& device, const std::function<void()>& work);

/// From here on, products of the device are made as the choices say; a product without a choice
/// uses the library's first algorithm, and so do all products without `choices`.
/// Throws    ConfigError on the CPU, and when they were made for another device or version of the
///           library; from a product, BackendError when the library does not know its algorithm
void use_product_choices(const Device& device, const ProductChoices& choices);

}  // namespace farfield
