#include "apps/train/tuned_products.h"

#include <filesystem>

#include "apps/train/manifest.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/product_choices.h"

namespace farfield::train {
namespace {

constexpr const char* kHead = "[train] products: ";

TunedProducts measured(Trainer& trainer) {
  const ProductChoices choices = trainer.tune_products();
  return {.file = to_text(choices), .said = kHead + summary(choices)};
}

TunedProducts read(Trainer& trainer, const std::string& file) {
  const std::string text = read_file(file);
  trainer.group().communicator().require_equal("products of --tune", text);
  const ProductChoices choices = parse_product_choices(file, text);
  try {
    use_product_choices(trainer.config().device, choices);
  } catch (const ConfigError& error) {
    throw ConfigError(concat(error.what(), "; in ", file));
  }
  const std::string changing = text_of_changing(choices);
  return {.file = text,
          .said = changing.empty() ? "" : concat(kHead, "of those in ", file, ", ", changing)};
}

// Drops the choices of another run in this program.
void forget_products(const Trainer& trainer) {
  const Device& device = trainer.config().device;
  if (device.kind != Device::Kind::cpu) use_product_choices(device, {});
}

}  // namespace

TunedProducts choose_products(Trainer& trainer) {
  const std::string& tune = trainer.config().tune;
  forget_products(trainer);
  if (tune.empty()) return {};
  return tune == "on" ? measured(trainer) : read(trainer, tune);
}

TunedProducts choose_products(Trainer& trainer, const run::RunFolder& folder) {
  forget_products(trainer);
  if (trainer.config().tune.empty()) return {};
  const std::string file = folder.products().string();
  std::error_code status;
  const bool is_there = std::filesystem::exists(folder.products(), status);
  if (trainer.group().communicator().broadcast(is_there ? "yes" : "no") == "no") {
    TunedProducts made = measured(trainer);
    made.said = concat("[train] ", file, " was gone; the products are chosen anew\n", made.said);
    return made;
  }
  TunedProducts found = read(trainer, file);
  const std::string manifest = folder.manifest().string();
  require<IoError>(
      has_products(manifest, read_file(folder.manifest()), found.file), "train", file,
      ": expected the file that this run was started with, got another; put it back, or remove it "
      "to have the products measured anew, which changes the bits of what follows");
  return found;
}

}  // namespace farfield::train
