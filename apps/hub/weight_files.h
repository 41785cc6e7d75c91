#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/safetensors_source.h"

namespace farfield::hub {

/// The tensors of a Hugging Face folder: of model.safetensors, or of the shards that
/// model.safetensors.index.json lists. They are read in parts, as float32.
class WeightFiles {
 public:
  /// IoError, naming the file, for a damaged or forged index: a shard outside of the folder, a
  /// missing shard, a tensor that is in two shards, or not where the index says; and for folders
  /// with weights of other formats, by name.
  explicit WeightFiles(const std::filesystem::path& folder);

  /// Where the weights are, for messages.
  const std::string& name() const { return name_; }
  bool has(const std::string& tensor) const { return places_.count(tensor) > 0; }
  /// IoError, naming the tensor, if there is none.
  const Shape& shape(const std::string& tensor) const;
  /// Elements [begin, begin + to.size()) as float32. IoError for a NaN or an infinity among them.
  void read(const std::string& tensor, int64_t begin, std::span<float> to);
  /// Tensors of which nothing has been read, in the order of names.
  std::vector<std::string> unread() const;
  /// Bytes of all files.
  int64_t size_bytes() const { return size_bytes_; }
  /// Differs between weights; of names, shapes and places, not of values.
  std::string hash() const;

 private:
  struct Place {
    size_t file;
    const StoredTensor* tensor;
  };
  void add_file(const std::filesystem::path& path);
  void read_index(const std::filesystem::path& folder, const std::filesystem::path& index);
  const Place& place_of(const std::string& tensor) const;

  std::string name_;
  std::vector<std::unique_ptr<SafetensorsSource>> files_;
  std::map<std::string, Place> places_;
  std::set<std::string> read_;
  int64_t size_bytes_ = 0;
};

}  // namespace farfield::hub
