#include "engine/comm/torch_store.h"

#include <algorithm>
#include <chrono>

#include "engine/base/error.h"

// The protocol comes from torch/csrc/distributed/c10d/TCPStoreBackend.hpp and
// TCPStoreLibUvBackend.cpp in PyTorch: a byte for the kind of request, then texts (each after its
// length) and numbers, in the byte order of the machine.

namespace farfield::comm {
namespace {

constexpr std::string_view kWhere = "torchrun";
constexpr std::chrono::seconds kPatience(10);  // for an answer that needs no other process

enum class Ask : uint8_t { validate = 0, set = 1, get = 3, check = 5, wait = 6, erase = 8 };
constexpr uint32_t kMagic = 0x3C85F7CE;
constexpr uint64_t kLongest = 1 << 16;  // of a value: ours are addresses

}  // namespace

class TorchStore::Query {
 public:
  explicit Query(Ask what) { number(what); }

  template <class Number>
  Query& number(Number value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Query& text(const std::string& value) {
    number(uint64_t{value.size()});
    bytes_ += value;
    return *this;
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

 private:
  std::string bytes_;
};

TorchStore::TorchStore(const std::string& host, uint16_t port, Clock::time_point until)
    : place_(concat(host, ", port ", port)) {
  try {
    socket_ = Socket::connect(host, port, until);
  } catch (const BackendError& error) {
    fail<BackendError>(kWhere, "expected torchrun to keep a store at ", place_,
                       ", as TORCHELASTIC_USE_AGENT_STORE says; ", error.what());
  }
  send(Query(Ask::validate).number(kMagic));
  send(Query(Ask::check).number(uint64_t{1}).text("farfield"));
  uint8_t is_set = 0;
  receive(std::as_writable_bytes(std::span(&is_set, 1)), std::min(until, Clock::now() + kPatience));
  require<BackendError>(is_set <= 1, kWhere, "expected a store of PyTorch 2.4 or later at ", place_,
                        ", got one that answers otherwise");
}

void TorchStore::set(const std::string& key, const std::string& value) {
  send(Query(Ask::set).text(key).text(value));
}

std::optional<std::string> TorchStore::wait(const std::string& key, Clock::time_point until) {
  send(Query(Ask::wait).number(uint64_t{1}).text(key));
  if (!socket_.can_receive(until)) return std::nullopt;
  receive<uint8_t>();
  send(Query(Ask::get).text(key));
  const auto size = receive<uint64_t>();
  require<BackendError>(size <= kLongest, kWhere, "expected a value of at most ", kLongest,
                        " bytes from the store at ", place_, ", got one of ", size);
  std::string value(size, ' ');
  receive(std::as_writable_bytes(std::span(value)), Clock::now() + kPatience);
  return value;
}

void TorchStore::erase(const std::string& key) {
  send(Query(Ask::erase).text(key));
  receive<int64_t>();
}

void TorchStore::send(const Query& query) {
  try {
    socket_.send(query.bytes(), Clock::now() + kPatience);
  } catch (const BackendError& error) {
    fail_to_answer(error);
  }
}

void TorchStore::receive(std::span<std::byte> bytes, Clock::time_point until) {
  try {
    socket_.receive(bytes, until);
  } catch (const BackendError& error) {
    fail_to_answer(error);
  }
}

void TorchStore::fail_to_answer(const BackendError& error) const {
  fail<BackendError>(kWhere, "expected an answer of the store of PyTorch 2.4 or later at ", place_,
                     ", got none: ", error.what());
}

template <class Value>
Value TorchStore::receive() {
  Value value = {};
  receive(std::as_writable_bytes(std::span(&value, 1)), Clock::now() + kPatience);
  return value;
}

}  // namespace farfield::comm
