#include <sstream>

#include "apps/hub/architecture.h"
#include "apps/hub/encoding_tables.h"
#include "apps/hub/import.h"
#include "apps/hub/own_config.h"
#include "apps/hub/weight_files.h"
#include "engine/base/file.h"
#include "tests/fuzz/readers.h"
#include "tests/fuzz/scratch.h"

namespace farfield::test {
namespace {

namespace fs = std::filesystem;

fs::path golden_hub(const char* name) { return fs::path(FARFIELD_GOLDEN_HUB) / name; }

void read_hub_config(std::string_view bytes) {
  refuse([&] { hub::read_architecture("config.json", bytes); });
}

std::string sound_hub_config() { return read_file(golden_hub("smollm3") / "config.json"); }

std::vector<std::string> other_hub_configs() {
  std::vector<std::string> all;
  for (const char* name :
       {"gpt_neox", "llama3", "llama_yarn", "llama_longrope", "qwen2", "bloom", "mpt", "gpt2"})
    all.push_back(read_file(golden_hub(name) / "config.json"));
  const ModelConfig model{.posenc = "kerple_log + rope"};
  const posenc::Composition encoding = hub::encoding_of(model);
  all.push_back(hub::own_config(model, encoding, hub::encoding_tables(encoding, 8), {}));
  return all;
}

// The folder of a model in shards, with another index.
void read_hub_index(std::string_view bytes) {
  static const fs::path folder = [] {
    const fs::path made = scratch() / "hub_index";
    fs::copy(golden_hub("mistral"), made);
    return made;
  }();
  write(folder / "model.safetensors.index.json", std::string(bytes));
  refuse([&] { hub::WeightFiles files(folder); });
}

std::string sound_hub_index() {
  return read_file(golden_hub("mistral") / "model.safetensors.index.json");
}

}  // namespace

const std::vector<FuzzedReader>& hub_readers() {
  static const std::vector<FuzzedReader> all = {
      {"hub_config", read_hub_config, sound_hub_config, other_hub_configs},
      {"hub_index", read_hub_index, sound_hub_index, nullptr, 20},
  };
  return all;
}

}  // namespace farfield::test
