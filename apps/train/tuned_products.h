#pragma once

#include <string>

#include "apps/run/folder.h"
#include "apps/train/trainer.h"

namespace farfield::train {

/// The algorithms that the products of a run on CUDA are made with, as `--tune` asks for.
struct TunedProducts {
  std::string file;  ///< products.json of the run; empty: none, the library chooses
  std::string said;  ///< what was measured, a line for the user; empty: nothing was
};

/// For a new run: measured now, or read from the file that the option names. In all processes the
/// same, in use from here on.
/// Throws    IoError for a file that is missing or damaged, ConfigError for one that was made on
///           another device or with another version of the library
TunedProducts choose_products(Trainer& trainer);

/// For a run that goes on: those of its products.json, and where that is gone measured anew.
/// Throws    as choose_products(); IoError also when the file is not the one that manifest.json
///           knows
TunedProducts choose_products(Trainer& trainer, const run::RunFolder& folder);

}  // namespace farfield::train
