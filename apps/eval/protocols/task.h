#pragma once

#include "apps/eval/result.h"
#include "apps/eval/subject.h"
#include "apps/eval/task_samples.h"

namespace farfield::eval {

/// How well a model that was trained on a task answers at each length: the share of answers and of
/// whole samples that are right (the most likely of the task's tokens, the smallest id of equal
/// ones), the cross-entropy in bits per answer, and by the place of what is asked for, if the task
/// has one, a series.
/// Throws    as TaskSamples
ProtocolResult measure_task(const Subject& subject, const CommonOptions& common,
                            const TaskOptions& own);

}  // namespace farfield::eval
