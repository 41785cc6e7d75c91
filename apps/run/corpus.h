#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/run/data_use.h"
#include "apps/run/folder.h"
#include "apps/run/resolved_config.h"
#include "data/corpus.h"

namespace farfield::run {

/// The tokenizer that a run was trained with: the tokenizer.json in its folder, or the one that is
/// built in under the name in manifest.json. Null for a run whose manifest names none. IoError,
/// naming the file, where its hash is not the one that the manifest has.
data::TokenizerPtr tokenizer_of(const RunFolder& run);

/// How a corpus is opened for a run: what its configuration says, and the tokenizer of the model
/// where there is one already.
data::CorpusOptions corpus_options(const ResolvedConfig& config,
                                   const data::TokenizerPtr& model_tokenizer = nullptr);

/// The corpora that a run was trained on, each told by its hash. Each is looked for, in this order:
/// where config.conf says, from the current folder; beside the run, as the manifest records it, or
/// for runs that are older than this record below each of the run's parent folders; at the absolute
/// path where it was.
///
/// None for a run that is trained on a task. If no place has the right corpus, returns the one at
/// config.conf's path, for the caller to compare. IoError, naming --data, if there is none.
std::vector<DataUse> find_data(const RunFolder& run);
/// The first of them.
std::string find_corpus(const RunFolder& run);

}  // namespace farfield::run
