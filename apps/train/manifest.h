#pragma once

#include <string>
#include <vector>

#include "apps/run/lineage.h"
#include "apps/run/resolved_config.h"
#include "apps/run/training_data.h"

namespace farfield::train {

/// Parameters of a model without adapters, and parameters that are trained.
struct ParameterCounts {
  int64_t all = 0, trained = 0;
};

/// manifest.json of a new run: hashes of data, tokenizer and configuration; facts about the build;
/// the machine. `run` is its folder: the paths of corpora are recorded relative to it too.
/// `products`: its products.json, "" for none. `lineage`: where its initial weights come from.
std::string run_manifest(const run::ResolvedConfig& config, const run::TrainingData& data,
                         const ParameterCounts& parameters, const std::string& products,
                         const std::string& run, const std::vector<run::Ancestor>& lineage = {});

/// The manifest with one more entry in its list of resumed calls, and where the corpora lie now;
/// `products` as they are from then on. IoError when it is no manifest.
std::string manifest_resumed(const std::string& name, const std::string& manifest, int64_t step,
                             const run::ResolvedConfig& config, const std::string& products,
                             const std::string& run);

/// Whether that is the products.json that the manifest knows. IoError when it is no manifest.
bool has_products(const std::string& name, const std::string& manifest,
                  const std::string& products);

}  // namespace farfield::train
