#pragma once

#include <string>

#include "apps/run/folder.h"
#include "apps/train/trainer.h"

namespace farfield::train {

/// The algorithms of the matrix products of a run on CUDA, as requested by `--tune`.
struct TunedProducts {
  std::string file;  ///< products.json of the run; empty: none, the library chooses
  std::string said;  ///< a line about the measurement for the user; empty without one
};

/// For a new run: measures the products, or reads the file that the option names. All processes use
/// the same choices from here on.
/// Throws    IoError for a file that is missing or damaged, ConfigError for a file from another
///           device or another version of the library
TunedProducts choose_products(Trainer& trainer);

/// For a resumed run: the choices of its products.json, or a new measurement if that is missing.
/// Throws    as choose_products(); IoError also if the file differs from the record in
///           manifest.json
TunedProducts choose_products(Trainer& trainer, const run::RunFolder& folder);

}  // namespace farfield::train
