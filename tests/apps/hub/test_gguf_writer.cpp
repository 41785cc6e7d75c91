// The bytes of GGUF files, against what the format says of them.

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>

#include "apps/hub/gguf_writer.h"
#include "engine/base/file.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield::hub {
BOOST_AUTO_TEST_SUITE(test_gguf_writer)  // ctest: sanitize
namespace {

// A number as its bytes, the lowest first.
std::string little(uint64_t value, int n_byte) {
  std::string bytes;
  for (int i = 0; i < n_byte; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}
std::string u32(uint64_t value) { return little(value, 4); }
std::string u64(uint64_t value) { return little(value, 8); }
std::string sized(const std::string& text) { return u64(text.size()) + text; }

BOOST_AUTO_TEST_CASE(each_byte_is_where_the_format_has_it) {
  const TempFolder temp;
  GgufMetadata metadata;
  metadata.add_text("general.architecture", "llama");
  metadata.add_count("n", 4000000000);
  metadata.add_number("x", 0.5);
  metadata.add_flag("is", true);
  metadata.add_texts("words", std::vector<std::string>{"a", "", "bcd"});
  metadata.add_counts("kinds", std::vector<int32_t>{-1, 3});
  write_gguf(temp / "file.gguf", metadata,
             {{"matrix", Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}), DType::bf16},
              {"vector", Tensor::from({-2}, {1}), DType::f32}});

  std::string want = "GGUF" + u32(3) + u64(2) + u64(6);
  want += sized("general.architecture") + u32(8) + sized("llama");
  want += sized("n") + u32(4) + u32(4000000000);
  want += sized("x") + u32(6) + u32(0x3f000000);
  want += sized("is") + u32(7) + '\1';
  want += sized("words") + u32(9) + u32(8) + u64(3) + sized("a") + sized("") + sized("bcd");
  want += sized("kinds") + u32(9) + u32(5) + u64(2) + u32(0xffffffff) + u32(3);
  want += sized("matrix") + u32(2) + u64(3) + u64(2) + u32(30) + u64(0);  // 3 is the fastest
  want += sized("vector") + u32(1) + u64(1) + u32(0) + u64(32);
  want.resize((want.size() + 31) / 32 * 32);
  for (const int bits : {0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0})
    want += little(static_cast<uint64_t>(bits), 2);
  want += std::string(20, '\0') + u32(0xc0000000) + std::string(28, '\0');
  const std::string got = read_file(temp / "file.gguf");
  BOOST_TEST(got.size() == want.size());
  BOOST_TEST((got == want));
}

BOOST_AUTO_TEST_CASE(what_llama_cpp_could_not_read_is_refused_and_nothing_is_left) {
  const TempFolder temp;
  const Tensor one = Tensor::from({1}, {1});
  const auto write = [&](std::vector<GgufTensor> tensors) {
    write_gguf(temp / "file.gguf", {}, std::move(tensors));
  };
  BOOST_CHECK_EXCEPTION(write({{"w", one, DType::f32}, {"w", one, DType::f32}}), ConfigError,
                        says("[gguf] expected each tensor under a name of its own, got 'w' twice"));
  BOOST_CHECK_EXCEPTION(write({{std::string(64, 'w'), one, DType::f32}}), ConfigError,
                        says("expected a tensor's name of at most 63 bytes"));
  BOOST_CHECK_EXCEPTION(write({{"w", one, DType::f64}}), ConfigError,
                        says("expected float32 or bfloat16 for 'w', got float64"));
  BOOST_CHECK_EXCEPTION(write({{"w", Tensor::zeros({1, 1, 1, 1, 1}), DType::f32}}), ConfigError,
                        says("expected 1 to 4 dimensions of 'w', got 5"));
  GgufMetadata metadata;
  BOOST_CHECK_EXCEPTION(metadata.add_count("n", -1), ConfigError,
                        says("expected a value of 32 bits for 'n', got -1"));
  BOOST_TEST(temp.entries() == 0);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::hub
