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

std::vector<double> numbers_of_peer(const std::string& command, int64_t n) {
  const std::string output = output_of(command);
  std::vector<double> numbers;
  std::istringstream words(output);
  for (double number = 0; words >> number && number > 0;) numbers.push_back(number);
  require<IoError>(words.eof() && static_cast<int64_t>(numbers.size()) == n, "bench",
                   "--peer: expected ", n, n == 1 ? " number" : " numbers", " of seconds, got '",
                   output, "'");
  return numbers;
}

analysis::Samples run_peer(const std::string& command, const std::vector<std::string>& texts,
                           int64_t rounds) {
  const TextsFile file(texts);
  analysis::Samples samples;
  for (const double time_s :
       numbers_of_peer(concat(command, " '", file.path.string(), "' ", rounds), rounds))
    samples.add(time_s);
  return samples;
}

}  // namespace farfield::bench
