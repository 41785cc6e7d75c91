#pragma once

#include "apps/cli/options.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

struct CoherenceOptions {
  int64_t sequences = 32;     ///< the curve is the mean over these
  int64_t prompts = 4;        ///< texts to continue
  int64_t n_new = 320;        ///< tokens of a continuation
  int64_t reread_stride = 1;  ///< new tokens that one pass predicts
};

void add_options(cli::Options& options, CoherenceOptions& own);
void check(const CoherenceOptions& own);

/// Numbers for questions that people answer by reading: how far beyond the training length L_tr a
/// model's perplexity holds, and whether the model still writes text there.
///
/// The curve goes to position 4 L_tr and is smoothed over 2 max(1, L_tr / 16) + 1 positions. From
/// it: perplexity_at_train_len, over 16 positions around L_tr, for longer L_tr than 512 over its
/// 32nd part (scored_tokens_at_train_len of all sequences, and bits_per_byte_at_train_len where the
/// bytes of a token are known), coherent_share and coherent_share_beyond (of the positions within
/// 1.25 times that; the second of those after L_tr), breakdown_position (inf: none). Series:
/// perplexity and smoothed perplexity by position, perplexity by residue (the place in blocks of
/// L_tr).
///
/// Prompts of 1.37 L_tr tokens are continued greedily and at temperature 0.8. Means over the
/// prompts, under greedy_ and sampled_: nll, of the new tokens read by the same model,
/// reread_stride of them by a pass over L_tr tokens (the last of them has L_tr before it);
/// distinct_4, different 4-grams / 4-grams; cycle_share, of the longest repeated cycle. The first
/// continuation stands in the notes where there is a tokenizer. A stand-in without a model writes
/// nothing.
///
/// Throws    ConfigError bad_argument for a training length below 8; IoError not_enough_data,
///           bad_token. The cell fails with nonfinite_logits, naming the sequence or the prompt
/// Source    "Extending Context is Hard...but not Impossible" (2023): breakdown at about 1.07 L_tr
///           without help; its printed sample ends in a short cycle
ProtocolResult measure_coherence(const Subject& subject, const CommonOptions& common,
                                 const CoherenceOptions& own);

}  // namespace farfield::eval
