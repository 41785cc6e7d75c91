#include "engine/device.h"

#include <charconv>

#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"

namespace farfield {
namespace {

int& default_cuda() {
  static int index = 0;
  return index;
}

}  // namespace

void set_default_cuda(int index) { default_cuda() = index; }

std::ostream& operator<<(std::ostream& out, const Device& device) {
  if (device.kind == Device::Kind::cpu) return out << "cpu";
  return out << "cuda:" << device.index;
}

Device parse_device(std::string_view text) {
  if (text == "cpu") return {};
  std::string_view rest = text;
  if (rest.starts_with("cuda")) {
    rest.remove_prefix(4);
    int index = default_cuda();
    bool ok = rest.empty();
    if (rest.starts_with(":")) {
      const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), index);
      ok = error == std::errc{} && end == rest.data() + rest.size() && index >= 0;
    }
    if (ok) {
#ifdef FARFIELD_HAS_CUDA
      return {Device::Kind::cuda, index};
#else
      fail<ConfigError>("device", "'", text,
                        "' asked for, but this build has no CUDA; configure with FARFIELD_CUDA=ON");
#endif
    }
  }
  static constexpr Synonym kSynonyms[] = {{"gpu", "cuda"}, {"nvidia", "cuda"}, {"host", "cpu"}};
  fail<ConfigError>("device", "expected cpu, cuda or cuda:N, got '", text, "'",
                    did_you_mean(text, {"cpu", "cuda"}, kSynonyms));
}

}  // namespace farfield
