#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/run/config.h"
#include "posenc/registry.h"

namespace farfield::sweep {

/// How large an experiment is run. Lengths are counted in units: the training length of the papers'
/// main tables, 512 tokens there.
enum class Scale {
  smoke,  ///< seconds a model: whether all of it works
  tiny,   ///< a minute a model on one core: experiments.md 2
  small,  ///< a minute a model on one GPU, an hour for a table
  brief,  ///< the published models and lengths, a tenth of the published steps: three minutes a
          ///< model of 162M parameters on one H200
  paper,  ///< as published
};

std::string to_word(Scale scale);
/// ConfigError, with the nearest, for another word.
Scale scale_named(const std::string& word);

/// "smoke, tiny, small, brief or paper", for help.
std::string scale_words();
/// Whether findings are held against the thresholds of the papers, and experiments have all the
/// models and data sets of theirs: from `small` on.
bool has_published_thresholds(Scale scale);
/// Whether models and lengths are the published ones.
bool has_published_sizes(Scale scale);
/// Whether the scale is meant for a GPU: its cost is then stated for a GPU.
inline bool is_for_card(Scale scale) { return has_published_thresholds(scale); }

/// The models of the papers, and what stands for them at other scales.
enum class Size {
  base,     ///< neox-162m
  large,    ///< neox-1.3b
  baevski,  ///< baevski-247m
  /// The models of tasks: 5 layers of width 64 (Ruoss et al. 2023, arXiv:2305.16843), 6 layers of
  /// width 512, or one layer with one head (Liu et al. 2023, arXiv:2306.00946). Below `small` all
  /// have the same width.
  algorithmic,
  flip_flop,
  one_head,
};

/// The settings of a scale instead of the papers'.
struct Profile {
  int64_t unit = 512;               ///< tokens
  int64_t segments = 1000;          ///< predicted tokens of last-token and cached (P1)
  int64_t long_segments = 2000;     ///< the same on synthetic text
  int64_t max_tokens = 0;           ///< of a text that is read whole (P2, P3); 0: all
  int64_t sequences = 320;          ///< of position-wise (P4)
  int64_t chunks = 320;             ///< of non-overlapping with as many chunks at every length
  int64_t gradient_segments = 100;  ///< of gradient (P6)
  int64_t cached_segments = 1000;   ///< of cached (P9)
  int64_t timed_steps = 200;        ///< of speed (P10), and forward passes
  int64_t seeds = 5;                ///< where the paper has a spread
};
const Profile& profile_of(Scale scale);

/// Tokens of so many units, at least 1; of the scale's, or of `unit` tokens each.
int64_t tokens_of(Scale scale, double units);
int64_t tokens_of(int64_t unit, double units);
/// n sequences of the scale's lengths, in as many tokens where lengths are counted in a longer
/// unit: fewer, at least 1.
int64_t sequences_of(Scale scale, int64_t unit, int64_t n);

/// The training of a model of the papers at a scale: preset, sizes, batch, steps, learning rate.
/// Without encoding, data and seed. `steps` is a share of the steps, `train_len` in units; the
/// batch has as many sequences whatever their length, of baevski's published size as many tokens.
run::RunConfig training_of(Scale scale, Size size, double train_len = 1, double steps = 1);

/// An expression of one scale at another, so that what it does to L_tr tokens stays: rescaled() of
/// posenc/rescale.h with the ratio of their units. The rows of encodings say which arguments follow
/// a length, and how; `row_of` finds them.
///
/// Source    Chi et al. 2023, arXiv:2212.10356, for what the slopes, windows and fields are
std::string expression_at(Scale scale, const std::string& expression,
                          Scale meant_for = Scale::paper,
                          const posenc::Row* (*row_of)(std::string_view name) = posenc::find);

/// The same for a model of another size, whose training length is `unit` tokens.
std::string expression_for(int64_t unit, int64_t n_head, const std::string& expression,
                           Scale meant_for = Scale::paper,
                           const posenc::Row* (*row_of)(std::string_view name) = posenc::find);

/// A description of training_of() and expression_at() for a report.
std::string describe(Scale scale);

}  // namespace farfield::sweep
