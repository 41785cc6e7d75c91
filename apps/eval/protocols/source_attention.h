#pragma once

#include "apps/eval/result.h"
#include "apps/eval/subject.h"
#include "apps/eval/task_samples.h"

namespace farfield::eval {

/// Where a model looks when it answers a task whose answers repeat a token of the input, the source
/// (TaskSample::sources): the attention that the token before each answer gives to the source. The
/// head with the largest mean is the best one.
///
/// Quantities: best_head and mean_head (the mean over answers of the best head, and of all heads of
/// all layers), first_tenth and last_tenth (of the best head, over the answers in that tenth of the
/// sequence; absent without such answers), uniform (1 over the number of keys, on the same answers)
/// and answers. Series: the best head by the place of the answer, in 10 parts. The note names the
/// best head.
///
/// Throws    as TaskSamples; ConfigError bad_argument for a task whose answers repeat no token
/// Source    Liu et al. 2023, "Exposing Attention Glitches with Flip-Flop Language Modeling",
///           arXiv:2306.00946; Chiang and Cholak 2022, arXiv:2202.12172
ProtocolResult measure_source_attention(const Subject& subject, const CommonOptions& common,
                                        const TaskOptions& own);

}  // namespace farfield::eval
