#pragma once

#include <string>

#include "apps/sweep/experiment.h"
#include "apps/sweep/scale.h"

namespace farfield::sweep {

/// An experiment of the user's own, of `key = value` lines, empty ones and comments, which begin
/// with # at the begin of a line or behind a blank. grid_keys_text() has all keys:
///
///   title = does a window help ALiBi?
///   encoding = alibi                    one line each; taken as written, at every scale
///   encoding = alibi + window(32)
///   label = windowed                    of the encoding above
///   dataset = github                    text unless said
///   train-len = 64                      tokens; L of the scale unless said
///   lengths = 64, 128, 256, 512         tokens; 1, 2, 4, 8 times train-len unless said
///   protocols = last-token, gradient
///   seeds = 3                           at least so many; more where `sweep run --seeds` says more
///   reference = alibi                   of paired tests; the first encoding unless said
///   train.steps = 400                   any option of `train`
///   eval.segments = 256                 any option of `eval`, for the protocols that have it
///
/// Its id is "own/<name>"; its lengths are in units of `scale`, as in all experiments. ConfigError,
/// naming <name>.conf and the line or its key, for unknown words and invalid numbers.
Experiment parse_grid(const std::string& name, const std::string& text, Scale scale);

/// Whether a word on the command line names such a file rather than experiments.
bool is_grid_file(const std::string& word);
/// The name of its experiment: the file's, without folder and ending.
std::string name_of_grid(const std::string& file);

/// The keys of such a file, a line each, for --help.
std::string grid_keys_text();

}  // namespace farfield::sweep
