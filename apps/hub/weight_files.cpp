#include "apps/hub/weight_files.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace fs = std::filesystem;

namespace farfield::hub {
namespace {

constexpr std::string_view kWhere = "hub";
constexpr const char* kIndexFile = "model.safetensors.index.json";
constexpr const char* kWeightsFile = "model.safetensors";

// Weights in files that run code when they are read, or of other programs.
void refuse_other_formats(const fs::path& folder) {
  for (const char* name : {"pytorch_model.bin", "pytorch_model.bin.index.json", "model.pt",
                           "consolidated.00.pth", "tf_model.h5", "flax_model.msgpack"})
    require<IoError>(!is_there(folder / name), kWhere, (folder / name).string(),
                     ": expected model.safetensors, got weights of another format, which are not "
                     "read, since such files can run code; load the model with transformers and "
                     "save_pretrained() it, which writes safetensors");
  for (const auto& entry : fs::directory_iterator(folder))
    require<IoError>(entry.path().extension() != ".gguf", kWhere, entry.path().string(),
                     ": expected model.safetensors, got a GGUF file, which is not read; "
                     "from_pretrained(folder, gguf_file=...) and save_pretrained() of transformers "
                     "convert it");
}

}  // namespace

WeightFiles::WeightFiles(const fs::path& folder) {
  if (is_file(folder / kIndexFile)) {
    name_ = (folder / kIndexFile).string();
    read_index(folder, folder / kIndexFile);
    return;
  }
  if (!is_file(folder / kWeightsFile)) refuse_other_formats(folder);
  name_ = (folder / kWeightsFile).string();
  require<IoError>(is_file(folder / kWeightsFile), kWhere, folder.string(),
                   ": expected model.safetensors, or ", kIndexFile, " and its shards, got none");
  add_file(folder / kWeightsFile);
}

void WeightFiles::add_file(const fs::path& path) {
  files_.push_back(std::make_unique<SafetensorsSource>(path));
  const SafetensorsSource& file = *files_.back();
  size_bytes_ += static_cast<int64_t>(fs::file_size(path));
  for (const StoredTensor& tensor : file.tensors()) {
    const auto [at, is_new] = places_.try_emplace(tensor.name, Place{files_.size() - 1, &tensor});
    require<IoError>(is_new, kWhere, file.file(), ": expected each tensor in one shard, got '",
                     tensor.name, "' in ", files_[at->second.file]->file(), " too");
  }
}

void WeightFiles::read_index(const fs::path& folder, const fs::path& index) {
  const std::string file = index.string(), text = read_file(index);
  const Json json = read_json({kWhere, file, text});
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  require<IoError>(map != json.end() && map->is_object(), kWhere, file,
                   ": expected an object 'weight_map'");
  std::map<std::string, std::string> shard_of;
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    require<IoError>(shard.is_string(), kWhere, file, ": expected the name of a file for '", tensor,
                     "', got ", shard.type_name());
    const auto name = shard.get<std::string>();
    require<IoError>(!name.empty() && name[0] != '.' &&
                         name.find_first_of("/\\") == std::string::npos &&
                         name.find('\0') == std::string::npos && name.ends_with(".safetensors"),
                     kWhere, file, ": expected a .safetensors file of this folder for '", tensor,
                     "', got '", name, "'");
    shard_of.emplace(tensor, name);
    shards.insert(name);
  }
  require<IoError>(!shards.empty(), kWhere, file, ": expected shards, got none");
  for (const std::string& shard : shards) {
    require<IoError>(is_file(folder / shard), kWhere, file, ": expected the shard ", shard,
                     ", got none in ", folder.string());
    add_file(folder / shard);
  }
  for (const auto& [tensor, shard] : shard_of) {
    const auto place = places_.find(tensor);
    require<IoError>(
        place != places_.end() && fs::path(files_[place->second.file]->file()).filename() == shard,
        kWhere, file, ": expected '", tensor, "' in ", shard, ", got it ",
        place == places_.end() ? "nowhere" : "in another shard");
  }
  for (const auto& [tensor, place] : places_)
    require<IoError>(shard_of.count(tensor) > 0, kWhere, file, ": expected '", tensor,
                     "', which is in ", files_[place.file]->file(), ", in the index");
}

const WeightFiles::Place& WeightFiles::place_of(const std::string& tensor) const {
  const auto found = places_.find(tensor);
  require<IoError>(found != places_.end(), kWhere, name_, ": expected a tensor '", tensor,
                   "', got none of that name");
  return found->second;
}

const Shape& WeightFiles::shape(const std::string& tensor) const {
  return place_of(tensor).tensor->shape;
}

void WeightFiles::read(const std::string& tensor, int64_t begin, std::span<float> to) {
  const Place& place = place_of(tensor);
  read_.insert(tensor);
  files_[place.file]->read(*place.tensor, begin, to);
  const auto bad = std::find_if(to.begin(), to.end(), [](float x) { return !std::isfinite(x); });
  require<IoError>(bad == to.end(), kWhere, files_[place.file]->file(),
                   ": expected finite numbers in '", tensor, "', got ", bad == to.end() ? 0 : *bad,
                   " at ", begin + (bad - to.begin()));
}

std::vector<std::string> WeightFiles::unread() const {
  std::vector<std::string> names;
  for (const auto& item : places_)
    if (read_.count(item.first) == 0) names.push_back(item.first);
  return names;
}

std::string WeightFiles::hash() const {
  std::string text;
  for (const auto& [name, place] : places_)
    text += concat(name, ' ', place.tensor->shape, ' ', place.tensor->type.name, '\n');
  return hash_hex(text);
}

}  // namespace farfield::hub
