#include "apps/train/event_file.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <boost/crc.hpp>
#include <system_error>

#include "engine/base/error.h"
#include "engine/base/file.h"

namespace fs = std::filesystem;

namespace farfield::train {
namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";

std::string bytes_of(uint64_t value, size_t n) {
  std::string bytes;
  for (size_t i = 0; i < n; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// CRC-32C (Castagnoli), turned and shifted so that the code of a text that holds codes is no
// special one.
std::string masked_crc(const std::string& text) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(text.data(), text.size());
  return bytes_of(std::rotr(static_cast<uint32_t>(crc.checksum()), 15) + 0xa282ead8U, 4);
}

// Fields of a message: their number, their type and their value.
enum class Wire : uint32_t { varint = 0, eight_bytes = 1, bytes = 2, four_bytes = 5 };

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string key(uint32_t number, Wire wire) {
  return varint(number << 3 | static_cast<uint32_t>(wire));
}
std::string field(uint32_t number, double value) {
  return key(number, Wire::eight_bytes) + bytes_of(std::bit_cast<uint64_t>(value), 8);
}
std::string field(uint32_t number, float value) {
  return key(number, Wire::four_bytes) + bytes_of(std::bit_cast<uint32_t>(value), 4);
}
std::string field(uint32_t number, int64_t value) {
  return key(number, Wire::varint) + varint(static_cast<uint64_t>(value));
}
std::string field(uint32_t number, const std::string& bytes) {
  return key(number, Wire::bytes) + varint(bytes.size()) + bytes;
}

// Event: 1 wall_time, 2 step, 3 file_version, 5 summary, 7 session_log.
std::string event(double seconds, int64_t step, const std::string& what) {
  return field(1, seconds) + field(2, step) + what;
}

std::string record(const std::string& event) {
  const std::string length = bytes_of(event.size(), 8);
  return length + masked_crc(length) + event + masked_crc(event);
}

// Summary: 1 value, of which 1 tag, 2 simple_value, 4 image.
std::string value(const std::string& tag, const std::string& what) {
  return field(1, field(1, tag) + what);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "host";
  return name.data();
}

// A number of the header of a PNG file, which begins with its signature and the size.
int64_t png_number(const std::string& png, size_t at) {
  int64_t number = 0;
  for (size_t i = at; i < at + 4; ++i) number = number << 8 | static_cast<unsigned char>(png.at(i));
  return number;
}

}  // namespace

EventFile::EventFile(const fs::path& folder, int64_t first_step, double seconds) {
  constexpr int64_t kStart = 1;  // of a session
  // Ten digits until the year 2286.
  const std::string name =
      concat(kPrefix, static_cast<int64_t>(seconds), '.', host_name(), '.', ::getpid());
  for (int n = 0; path_.empty() || is_there(path_); ++n) path_ = folder / concat(name, '.', n);
  write_file_atomic(path_, record(field(1, seconds) + field(3, std::string("brain.Event:2"))) +
                               record(event(seconds, first_step, field(7, field(1, kStart)))));
}

void EventFile::add_scalars(int64_t step, double seconds, const Scalars& scalars) {
  std::string summary;
  for (const auto& [tag, number] : scalars) summary += value(tag, field(2, number));
  append_file(path_, record(event(seconds, step, field(5, summary))));
}

void EventFile::add_image(int64_t step, double seconds, const std::string& tag,
                          const std::string& png) {
  constexpr size_t kWidth = 16, kHeight = 20;
  constexpr int64_t kRgb = 3;
  const std::string image = field(1, png_number(png, kHeight)) + field(2, png_number(png, kWidth)) +
                            field(3, kRgb) + field(4, png);
  append_file(path_, record(event(seconds, step, field(5, value(tag, field(4, image))))));
}

bool EventFile::is_in(const fs::path& folder) {
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(folder, status))
    if (entry.path().filename().string().starts_with(kPrefix)) return true;
  return false;
}

}  // namespace farfield::train
