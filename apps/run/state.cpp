#include "apps/run/state.h"

#include <algorithm>
#include <cmath>

#include "apps/run/config.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"

namespace farfield::run {
namespace {

constexpr std::string_view kWhere = "checkpoint";
constexpr int kFormat = 1;

// Most steps, tokens or bytes: exact in a double, and more than any training reaches.
constexpr int64_t kMost = int64_t{1} << 53;

Json json_of(const FileRecord& record) {
  return {{"bytes", record.bytes}, {"xxh3_128", record.hash}};
}

// A JSON object of a file. Every error names the file, the member, the accepted values and the
// value.
class Members {
 public:
  Members(const Json& object, const std::string& file, const std::string& name)
      : object_(object), file_(file), name_(name) {
    if (!object.is_object()) refuse(name, "an object", object);
  }

  const Json& at(const std::string& key) const {
    const auto found = object_.find(key);
    require<IoError>(found != object_.end(), kWhere, file_, ": expected a member '", full_name(key),
                     "', got none");
    return *found;
  }
  bool has(const std::string& key) const { return object_.contains(key); }
  const Json& object() const { return object_; }

  Members members(const std::string& key) const { return {at(key), file_, full_name(key)}; }
  std::string text(const std::string& key) const {
    const Json& value = at(key);
    if (!value.is_string()) refuse(full_name(key), "text", value);
    return value.get<std::string>();
  }
  int64_t count(const std::string& key, int64_t most = kMost) const {
    return count_of(at(key), full_name(key), 0, most);
  }
  std::vector<int64_t> counts(const std::string& key, int64_t least, int64_t most) const {
    const Json& list = at(key);
    if (!list.is_array()) refuse(full_name(key), "a list", list);
    std::vector<int64_t> values;
    for (const Json& value : list) values.push_back(count_of(value, full_name(key), least, most));
    return values;
  }
  double seconds(const std::string& key) const {
    const Json& value = at(key);
    if (!value.is_number() || !(value.get<double>() >= 0))
      refuse(full_name(key), "a number from 0 on", value);
    return value.get<double>();
  }
  std::string hash(const std::string& key) const {
    const std::string value = text(key);
    if (value.size() != 32 || value.find_first_not_of("0123456789abcdef") != std::string::npos)
      refuse(full_name(key), "a hash of 32 hexadecimal digits", at(key));
    return value;
  }
  FileRecord record(const std::string& key) const {
    const Members file = members(key);
    return {file.count("bytes"), file.hash("xxh3_128")};
  }

 private:
  int64_t count_of(const Json& value, const std::string& name, int64_t least, int64_t most) const {
    // Whole numbers without a sign are read as unsigned ones; 13.0 and -0 are not.
    const bool is_count = value.is_number_unsigned() &&
                          value.get<uint64_t>() >= static_cast<uint64_t>(least) &&
                          value.get<uint64_t>() <= static_cast<uint64_t>(most);
    if (!is_count) refuse(name, concat("a whole number from ", least, " to ", most), value);
    return value.get<int64_t>();
  }

  std::string full_name(const std::string& key) const {
    return name_.empty() ? key : concat(name_, '.', key);
  }

  [[noreturn]] void refuse(const std::string& name, const std::string& expected,
                           const Json& got) const {
    constexpr size_t kShown = 60;
    std::string text = write_json(got);
    if (text.size() > kShown) text = text.substr(0, kShown) + "...";
    fail<IoError>(kWhere, file_, ": expected ", expected, " as '", name, "', got ", text,
                  "; the file was changed");
  }

  const Json& object_;
  const std::string& file_;
  std::string name_;  // empty: the whole file
};

// The text as a tree without its hash, which is checked.
Json read_unchanged(const std::string& file, const std::string& text) {
  Json json = read_json({kWhere, file, text});
  const JsonHash hash = take_hash(json);
  require<IoError>(!hash.said.empty(), kWhere, file,
                   ": expected a JSON object with a hash; the file is damaged");
  require<IoError>(hash.fits(), kWhere, file, ": expected the hash ", hash.said, ", got ", hash.own,
                   "; the file was changed or is damaged");
  return json;
}

// Of the steps the configuration asks for; settings that are none are an error of the file.
int64_t steps_of(const Settings& config, const std::string& file) {
  try {
    const RunConfig read = to_run_config("config", identity(config));
    return std::clamp(read.steps.value_or(kMost), int64_t{0}, kMost);
  } catch (const Error& error) {
    fail<IoError>(kWhere, file, ": expected the settings of a run as 'config': ", error.what());
  }
}

}  // namespace

std::string train_state_text(const TrainState& state,
                             const std::map<std::string, FileRecord>& files) {
  Json config = Json::object();
  for (const auto& [key, value] : state.config) config[key] = value;
  Json records = Json::object();
  for (const auto& [name, record] : files) records[name] = json_of(record);
  Json json = {{"format", kFormat},
               {"step", state.step},
               {"tokens", state.tokens},
               {"optimizer_t", state.optimizer_t},
               {"time_s", state.time_s},
               {"skipped", state.skipped},
               {"data_hash", state.data_hash},
               {"config", config},
               {"files", records}};
  if (!state.metrics.hash.empty()) json["metrics"] = json_of(state.metrics);
  return write_hashed_json(std::move(json), 2);
}

StateFile read_train_state(const std::filesystem::path& path) {
  const std::string file = path.string();
  const Json json = read_unchanged(file, read_file(path));
  const Members all(json, file, "");
  const int64_t format = all.count("format");
  require<IoError>(format == kFormat, kWhere, file, ": expected format ", kFormat, ", got ",
                   format);
  StateFile result;
  TrainState& state = result.state;
  const Members config = all.members("config");
  for (const auto& item : config.object().items())
    state.config.emplace_back(item.key(), config.text(item.key()));
  const int64_t steps = steps_of(state.config, file);
  state.step = all.count("step", steps);
  state.tokens = all.count("tokens");
  state.optimizer_t = all.count("optimizer_t", state.step);  // a step that is left out is no update
  state.time_s = all.seconds("time_s");
  state.skipped = all.counts("skipped", 1, steps);
  state.data_hash = all.hash("data_hash");
  if (all.has("metrics")) state.metrics = all.record("metrics");
  const Members files = all.members("files");
  for (const auto& item : files.object().items())
    result.files[item.key()] = files.record(item.key());
  return result;
}

}  // namespace farfield::run
