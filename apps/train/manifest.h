#pragma once

#include <string>

#include "apps/run/corpus.h"
#include "apps/run/resolved_config.h"
#include "data/corpus.h"

namespace farfield::train {

/// manifest.json of a new run: hashes of data, tokenizer and configuration; what the program was
/// built from and with; the machine it runs on.
std::string run_manifest(const run::ResolvedConfig& config, const data::Corpus& corpus,
                         int64_t n_parameters, const run::CorpusPlace& place);

/// The manifest with one more entry in its list of resumed calls. IoError when it is no manifest.
std::string manifest_resumed(const std::string& name, const std::string& manifest, int64_t step,
                             const run::CorpusPlace& place);

}  // namespace farfield::train
