#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "posenc/arguments.h"
#include "posenc/encoding.h"

namespace farfield::posenc {

struct LengthChange;  // rescale.h

/// Families of encodings whose classes do not tell them apart, for Row::family.
namespace families {
inline constexpr const char* kLinear = "linear biases, and none";
inline constexpr const char* kKerple = "KERPLE";
inline constexpr const char* kGauss = "Gaussian kernels";
inline constexpr const char* kCurves = "Sandwich, T5, FIRE";
}  // namespace families

/// One encoding: its names, its description and its factory. `Row <name>_row()` in the encoding's
/// own file, encodings/<name>.cpp, returns it.
struct Row {
  std::string name = {};
  std::vector<std::string> aliases = {};   ///< expressions may use them too
  std::vector<std::string> synonyms = {};  ///< names in other programs, for suggestions
  std::string classes = {};  ///< letters as in README.md, comma separated: "T-b", "P2, M"; "-":
                             ///< nothing
  std::string meaning = {};
  std::string formula = {};                  ///< d, m, n, j and L as in README.md
  std::string source = {};                   ///< paper, section or equation
  std::vector<ArgumentSpec> arguments = {};  ///< the first may be given without its name
  /// The prefix of its parameters' names in checkpoints, if other programs have a name for them.
  std::string stored_as = {};
  /// An example term, for encodings whose name and required arguments alone are no valid term.
  std::string example = {};
  /// Terms that it shares no layer with, by class or name, and why.
  struct Conflict {
    std::vector<std::string> with = {};
    std::string reason = {};
  };
  std::vector<Conflict> conflicts = {};

  /// Encodings that a comparison of all draws together. Empty: family_of() takes it from the
  /// classes.
  std::string family = {};
  /// The expression that a comparison of all encodings measures, for a training length of 512
  /// tokens: typical arguments, and the terms without which the encoding does nothing. Empty: the
  /// example.
  std::string compared_as = {};
  /// For an encoding that such a comparison uses in evaluation only: the expression that its model
  /// is trained with. Empty: the same.
  std::string trained_as = {};
  /// Whether a comparison of all encodings has it: not what is for one task or one
  /// model, or a control.
  bool is_compared = true;

  std::unique_ptr<Encoding> (*make)(const Arguments&, const Config&) = nullptr;
  /// Class LY, a shorthand: the expression that it stands for, without `make`.
  std::string (*expand)(const Arguments&, const Config&) = nullptr;
  /// Fits a term to other lengths, instead of the units of its arguments: for arguments that
  /// change together. Every written argument has its name.
  void (*rescale)(ParsedTerm&, const LengthChange&) = nullptr;

  bool is(std::string_view letter) const;  ///< letter is among the classes
  bool takes(std::string_view argument) const;
  /// The conflict with another encoding that this row states; nullptr when there is none.
  const Conflict* conflict_with(const Row& other) const;
};

/// Row::make of a class, from what its constructor takes.
template <class E>
std::unique_ptr<Encoding> make([[maybe_unused]] const Arguments& a,
                               [[maybe_unused]] const Config& c) {
  if constexpr (std::is_constructible_v<E, const Arguments&, const Config&>)
    return std::make_unique<E>(a, c);
  else if constexpr (std::is_constructible_v<E, const Arguments&>)
    return std::make_unique<E>(a);
  else
    return std::make_unique<E>();
}

}  // namespace farfield::posenc
