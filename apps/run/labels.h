#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/run/settings.h"

namespace farfield::run {

/// An expression for tables and legends: each kernel(...) of more than 40 characters is cut behind
/// its first ones and told from others by a hash of the whole term,
/// "kernel(bias=-r1*log(1…#5c0e1a)". The same term is always cut the same way. For files the
/// expression stays whole.
std::string short_posenc(const std::string& expression);

/// The full text of each term that short_posenc() cuts in these expressions and that a label shows,
/// a line each: "kernel(bias=-r1*log(1…#5c0e1a) is kernel(bias=-r1*log(1+r2*d), ...)".
std::string cut_terms_text(const std::vector<std::string>& expressions,
                           const std::vector<std::string>& labels);

/// The full name of a measured encoding: "rope masked@512", "rope + window(w=4) (trained: rope)".
/// Canonical expressions, the label of a baseline.
std::string encoding_name(const std::string& posenc, const std::string& trained_posenc,
                          const std::string& baseline);

/// The same for tables and legends: expressions cut by short_posenc(), or the name of the run, if
/// it has one, instead of the expression it was trained with: "small", "small masked@512", "rope +
/// window(w=4) (trained: small)".
std::string encoding_label(const std::string& run_name, const std::string& posenc,
                           const std::string& trained_posenc, const std::string& baseline);

/// The expression that was measured, out of the key of a finished cell: there "posenc" has the mask
/// of a baseline masked@W in it.
std::string posenc_of(const Settings& cell_key);

/// The settings that decide a number besides the encoding and the seed: the training's settings,
/// then step, precision, device and text from the key of a finished cell. A text in the order that
/// the run's seed chose is the same for every seed, "<hash>/<split> order=seed".
Settings setting_of(const Settings& config, const Settings& cell_key, uint64_t seed);

/// The differences of each of several settings, " step=100 d-model=64": the keys that differ
/// between some of them, without keys that follow from a named preset. Empty if all are equal.
std::vector<std::string> differences_of(const std::vector<Settings>& all);

/// An expression as a part of the name of a folder, to be read and typed: "rope+alibi",
/// "rope+window-w=64-" and a hash. Letters, digits and _ . = + of ASCII stay, what is between them
/// becomes one "-", and nothing around a "+". Where more than blanks was replaced, or where it has
/// more than 48 bytes and is cut, a hash of the whole tells it from others.
std::string folder_word(const std::string& expression);

/// A text as a part of the name of a file: what of ASCII is neither a letter, a digit nor a dot
/// becomes "-", and so does a dot at the beginning.
std::string file_word(std::string text);

}  // namespace farfield::run
