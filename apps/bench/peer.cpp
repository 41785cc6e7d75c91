#include "apps/bench/peer.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"

namespace farfield::bench {
namespace {

namespace fs = std::filesystem;

// Removed at the end.
struct TextsFile {
  fs::path path = fs::temp_directory_path() / concat("farfield-bench-", getpid(), ".jsonl");

  explicit TextsFile(const std::vector<std::string>& texts) {
    AtomicFile file(path);
    for (const std::string& text : texts) {
      file.write("{\"text\": ");
      file.write(write_json(text));
      file.write("}\n");
    }
    file.commit();
  }
  ~TextsFile() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  TextsFile(const TextsFile&) = delete;
  TextsFile& operator=(const TextsFile&) = delete;
};

std::string output_of(const std::string& line) {
  std::FILE* pipe = popen(line.c_str(), "r");
  require<IoError>(pipe != nullptr, "bench", "--peer: expected to run '", line,
                   "', got no process");
  std::string output;
  for (char buffer[4096]; std::fgets(buffer, sizeof buffer, pipe) != nullptr;) output += buffer;
  const int status = pclose(pipe);
  require<IoError>(status == 0, "bench", "--peer: expected '", line, "' to succeed, got status ",
                   status);
  return output;
}

}  // namespace

analysis::Samples run_peer(const std::string& command, const std::vector<std::string>& texts,
                           int64_t rounds) {
  const TextsFile file(texts);
  const std::string output = output_of(concat(command, " '", file.path.string(), "' ", rounds));
  analysis::Samples samples;
  std::istringstream words(output);
  for (double time_s = 0; words >> time_s && time_s > 0;) samples.add(time_s);
  require<IoError>(words.eof() && samples.size() == rounds, "bench", "--peer: expected ", rounds,
                   " lines with the seconds of a round, got '", output, "'");
  return samples;
}

}  // namespace farfield::bench
