#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/run/settings.h"
#include "engine/base/file_lock.h"

namespace farfield::run {

/// The folder of one training run: config.conf, manifest.json, metrics.csv, checkpoints/, eval/;
/// tokenizer.json where the tokenizer is not built in, products.json where products were measured.
///
/// It is made complete or not at all. A folder opened for training is locked until this object
/// goes, so that two processes never write to one run.
class RunFolder {
 public:
  /// The files of a new run besides its checkpoints.
  struct Files {
    Settings config;
    std::string manifest, metrics_header;
    std::string tokenizer = {};  ///< Tokenizer::file(); empty: none
    std::string products = {};   ///< to_text(ProductChoices); empty: none
  };
  /// A new run with these files and what `fill` puts into its checkpoints/. ConfigError when
  /// something is there already; IoError, and nothing is there afterwards, when the folder cannot
  /// be written. What killed processes left of this folder is removed.
  static RunFolder create(const std::filesystem::path& path, const Files& files,
                          const std::function<void(const std::filesystem::path&)>& fill = {});
  /// An existing run, to go on with. ConfigError when another process has it; IoError when there is
  /// none or a file is missing. What killed processes left in it half-written is removed.
  static RunFolder open_for_training(const std::filesystem::path& path);
  /// An existing run, to read.
  static RunFolder open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path metrics() const { return path_ / "metrics.csv"; }
  std::filesystem::path manifest() const { return path_ / "manifest.json"; }
  std::filesystem::path tokenizer() const { return path_ / "tokenizer.json"; }
  std::filesystem::path products() const { return path_ / "products.json"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path eval() const { return path_ / "eval"; }
  /// Removes the folder with everything in it. Nothing else of it may be used afterwards.
  void remove();
  /// The settings of config.conf.
  const Settings& config() const { return config_; }
  /// Gives the run another name in config.conf; "" takes it away. Of a run open for training.
  void rename(const std::string& name);

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
  void lock(const std::filesystem::path& folder);
  void read_config(const std::filesystem::path& folder);

  std::filesystem::path path_;
  Settings config_;
  std::optional<FileLock> lock_;
};

/// manifest.json of a run; null without one. IoError for a damaged one.
nlohmann::ordered_json read_manifest(const RunFolder& run);

}  // namespace farfield::run
