#include "apps/hub/exported_run.h"

#include "apps/run/checkpoint.h"
#include "engine/base/error.h"
#include "layers/transformer.h"

namespace farfield::hub {

ExportedRun read_exported(const run::SourceRun& source) {
  run::Checkpoint checkpoint =
      run::load_checkpoint(run::find_checkpoint(source.folder.checkpoints(), source.step),
                           /*with_optimizer=*/false);
  ExportedRun exported{{}, run::whole_weights(source.folder, source.config, checkpoint)};
  const VocabularyTensor last = vocabulary_tensor(source.config.model);
  const auto head = exported.weights.find(last.name);
  require<IoError>(head != exported.weights.end() && head->second.rank() == 2, "hub",
                   source.folder.path().string(), ": expected a matrix '", last.name,
                   "', got none");
  exported.model = source.config.model_of(last.n_before + head->second.dim(0));
  exported.model.adapters.reset();
  return exported;
}

}  // namespace farfield::hub
