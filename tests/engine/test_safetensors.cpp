#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <fstream>

#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/random.h"
#include "engine/safetensors.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_safetensors)  // ctest: on_cuda arm64
namespace {

std::string file_bytes(const std::string& header, const std::string& data) {
  const uint64_t n = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &n, 8);
  return bytes + header + data;
}

// The test file of the format's description: w = [1, -2] in float32.
const std::string kHeader = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  )";
const std::string kData("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8);

struct Fixture {
  TempFolder folder;
  std::filesystem::path path = folder / "model.safetensors";

  SafetensorsFile read(const std::string& bytes) {
    write_file_atomic(path, bytes);
    return read_safetensors(path);
  }
  void check_refused(const std::string& bytes, const std::string& message) {
    BOOST_CHECK_EXCEPTION(read(bytes), IoError, says("[safetensors] ", path.string(), message));
  }
};

BOOST_FIXTURE_TEST_SUITE(safetensors, Fixture)

BOOST_AUTO_TEST_CASE(the_file_of_the_description_is_written_byte_for_byte) {
  const std::string hash = write_safetensors(path, {{"w", Tensor::from({1, -2}, {2})}});
  const std::string bytes = read_file(path);
  BOOST_TEST(bytes.size() == 72u);
  BOOST_CHECK(bytes == file_bytes(kHeader, kData));
  BOOST_TEST(hash == hash_hex(bytes));
}

BOOST_AUTO_TEST_CASE(the_file_of_the_description_is_read) {
  const SafetensorsFile file = read(file_bytes(kHeader, kData));
  BOOST_TEST(file.tensors.size() == 1u);
  BOOST_TEST(file.tensors.at("w").to_vector() == std::vector<double>({1, -2}));
  BOOST_TEST(file.metadata.empty());
}

BOOST_AUTO_TEST_CASE(every_dtype_and_shape_comes_back) {
  const std::vector<std::pair<std::string, Tensor>> tensors = {
      {"scalar", Tensor::full({}, 3.25)},
      {"empty", Tensor::empty({2, 0, 3})},
      {"empty_too", Tensor::empty({0}, DType::f64)},
      {"half", Tensor::from({1.5, -0.25, 1e30}, {3, 1}, DType::bf16)},
      {"double", Tensor::from({1e300, -1e-300}, {1, 2}, DType::f64)},
      {"count", Tensor::from({-2147483648., 2147483647}, {2}, DType::i32)},
      {"name with \"quotes\", \\ and \xc3\xa9", Tensor::from({1, 2, 3, 4}, {2, 2})}};
  const std::map<std::string, std::string> metadata = {{"format", "pt"}, {"step", "12\n"}};
  write_safetensors(path, tensors, metadata);
  const SafetensorsFile file = read_safetensors(path);
  BOOST_CHECK(file.metadata == metadata);
  BOOST_TEST(file.tensors.size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const Tensor& got = file.tensors.at(name);
    BOOST_TEST(got.shape() == tensor.shape());
    BOOST_TEST(got.dtype() == tensor.dtype());
    BOOST_TEST(got.to_vector() == tensor.to_vector());
  }
}

BOOST_AUTO_TEST_CASE(tensors_are_sorted_by_element_size_then_name_and_so_aligned) {
  write_safetensors(path, {{"a", Tensor::full({1}, 1, DType::bf16)},
                           {"c", Tensor::full({1}, 1)},
                           {"b", Tensor::full({3}, 1)},
                           {"z", Tensor::full({1}, 1, DType::f64)}});
  const std::string bytes = read_file(path);
  BOOST_CHECK(bytes.substr(8, bytes.find(' ') - 8) ==
              R"({"z":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},)"
              R"("b":{"dtype":"F32","shape":[3],"data_offsets":[8,20]},)"
              R"("c":{"dtype":"F32","shape":[1],"data_offsets":[20,24]},)"
              R"("a":{"dtype":"BF16","shape":[1],"data_offsets":[24,26]}})");
  BOOST_TEST(bytes.size() % 8 == 2u);  // the header ends on a multiple of 8
}

BOOST_AUTO_TEST_CASE(the_order_of_the_bytes_is_free) {
  const SafetensorsFile file =
      read(file_bytes(R"({"b":{"data_offsets":[4,8],"shape":[],"dtype":"I32"},)"
                      R"("a":{"shape":[1],"dtype":"F32","data_offsets":[0,4]},)"
                      R"("e":{"shape":[0],"dtype":"F32","data_offsets":[4,4]}})",
                      std::string("\x00\x00\x80\x3f\x07\x00\x00\x00", 8)));
  BOOST_TEST(file.tensors.at("a").item() == 1);
  BOOST_TEST(file.tensors.at("b").item() == 7);
  BOOST_TEST(file.tensors.at("e").numel() == 0);
}

BOOST_AUTO_TEST_CASE(a_file_cut_at_any_byte_is_refused) {
  const std::string bytes = file_bytes(kHeader, kData);
  for (size_t size = 0; size < bytes.size(); ++size)
    BOOST_CHECK_EXCEPTION(read(bytes.substr(0, size)), IoError, says(path.string()));
  check_refused(bytes.substr(0, 7), ": expected at least 8 bytes, got 7");
  check_refused(bytes.substr(0, 63),
                ": expected a header of 56 bytes, got 55; the file is cut short");
  check_refused(bytes.substr(0, 71),
                ": expected 8 bytes of data by the header, got 7; the file is cut short");
}

BOOST_AUTO_TEST_CASE(extreme_header_lengths_are_refused) {
  const std::string good = file_bytes(kHeader, kData);
  for (const uint64_t n :
       {uint64_t{0}, uint64_t{1}, uint64_t{57}, uint64_t{65}, (uint64_t{1} << 31) - 1,
        uint64_t{1} << 31, (uint64_t{1} << 32) - 1, (uint64_t{1} << 63) - 1, ~uint64_t{0},
        ~uint64_t{0} - 7, uint64_t{56} << 56 /* swapped byte order */}) {
    std::string bytes = good;
    std::memcpy(bytes.data(), &n, 8);
    BOOST_CHECK_EXCEPTION(read(bytes), IoError, says(path.string(), "expected"));
  }
}

BOOST_AUTO_TEST_CASE(extreme_shapes_and_offsets_are_refused) {
  const char* extremes[] = {"0",
                            "1",
                            "2147483647",
                            "2147483648",
                            "4294967295",
                            "4294967296",
                            "9223372036854775807",
                            "9223372036854775808",
                            "18446744073709551615",
                            "18446744073709551616"};
  for (const std::string x : extremes) {
    for (const std::string& header :
         {R"({"w":{"dtype":"F32","shape":[)" + x + R"(],"data_offsets":[0,8]}})",
          R"({"w":{"dtype":"F32","shape":[)" + x + ",2" + R"(],"data_offsets":[0,8]}})",
          R"({"w":{"dtype":"F32","shape":[4294967296,)" + x + R"(],"data_offsets":[0,8]}})",
          R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[)" + x + ",8]}}",
          R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,)" + x + "]}}"}) {
      // [1, 2] and data_offsets [0, 8] are the good file.
      if (header.find("[1,2]") != std::string::npos ||
          header.find("[2],\"data_offsets\":[0,8]") != std::string::npos)
        continue;
      BOOST_CHECK_EXCEPTION(read(file_bytes(header, kData)), IoError, says(path.string()));
    }
  }
  check_refused(
      file_bytes(R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})",
                 kData),
      ": the size of tensor 'w' overflows 64 bits");
}

BOOST_AUTO_TEST_CASE(ranges_must_cover_the_data_exactly_once) {
  const auto two = [](const std::string& a, const std::string& b) {
    return file_bytes(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" + a +
                          R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + b + "}}",
                      kData);
  };
  BOOST_CHECK_NO_THROW(read(two("[0,4]", "[4,8]")));
  check_refused(two("[0,4]", "[2,6]"),
                ": expected tensor 'b' to begin at byte 4 of the data, got 2; it overlaps another");
  check_refused(two("[0,4]", "[0,4]"), "; it overlaps another");
  check_refused(two("[0,4]", "[5,9]"), "got 5; there is a gap");
  check_refused(two("[1,5]", "[5,9]"), ": expected tensor 'a' to begin at byte 0");
  check_refused(two("[0,4]", "[8,4]"),
                ": the data_offsets of tensor 'b' run backwards, from 8 to 4");
  check_refused(file_bytes(kHeader, kData + "x"),
                ": expected 8 bytes of data by the header, got 9; there is something behind it");
}

BOOST_AUTO_TEST_CASE(a_header_that_is_not_by_the_format_is_refused_with_the_reason) {
  const auto entry = [](const std::string& fields) { return "{\"w\":{" + fields + "}}"; };
  const std::string dtype = R"("dtype":"F32")", shape = R"("shape":[2])",
                    offsets = R"("data_offsets":[0,8])";
  const struct {
    std::string header, message;
  } cases[] = {
      {" " + kHeader, "starts with '{'"},
      {"[1]", "starts with '{'"},
      {"{", "expected JSON in UTF-8, got something else at byte 9"},
      {"{}}", "got something else at byte 10"},
      {std::string("{}\0x", 4), "got a NUL at byte 10"},
      {"{\"\xff\":1}", "got something else at byte 10"},
      {R"({"w":1})", "expected an object in the header under 'w', got a number"},
      {R"({"w":"x"})", "expected an object in the header under 'w', got a string"},
      {R"({"w":[]})", "expected an object in the header under 'w', got an array"},
      {R"({"w":null})", "under 'w', got null"},
      {R"({"w":true})", "under 'w', got a boolean"},
      {R"({"__metadata__":{"a":1}})", "expected a string in the header under 'a', got a number"},
      {R"({"__metadata__":{"a":{}}})", "expected a string in the header under 'a', got an object"},
      {R"({"__metadata__":{"a":"1","a":"2"}})", "got the key 'a' twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", "got the key '__metadata__' twice"},
      {entry(dtype + "," + dtype + "," + shape + "," + offsets), "the key 'dtype' twice"},
      {entry(shape + "," + shape + "," + dtype + "," + offsets), "the key 'shape' twice"},
      {entry(dtype + "," + shape), "expected dtype, shape and two data_offsets for tensor 'w'"},
      {entry(dtype + "," + offsets), "got less"},
      {entry(shape + "," + offsets), "got less"},
      {entry(dtype + "," + shape + R"(,"data_offsets":[0])"), "got less"},
      {entry(dtype + "," + shape + R"(,"data_offsets":[0,8,8])"),
       "expected at most 2 numbers in data_offsets of tensor 'w', got more"},
      {entry(dtype + R"(,"shape":[1,1,1,1,1,1,2],)" + offsets), "at most 6 numbers in shape"},
      {entry(dtype + "," + shape + "," + offsets + R"(,"extra":1)"),
       "expected dtype, shape and data_offsets for tensor 'w', got the field 'extra'"},
      {entry(dtype + R"(,"shape":[-2],)" + offsets),
       "expected non-negative integers in the header under 'shape', got a negative number"},
      {entry(dtype + R"(,"shape":[2.0],)" + offsets), "under 'shape', got the number 2.0"},
      {entry(dtype + R"(,"shape":[2e0],)" + offsets), "under 'shape', got the number 2e0"},
      {entry(dtype + R"(,"shape":[[2]],)" + offsets), "under 'shape', got an array"},
      {entry(dtype + R"(,"shape":2,)" + offsets), "expected an array in the header under 'shape'"},
      {entry(R"("dtype":["F32"],)" + shape + "," + offsets), "under 'dtype', got an array"},
      {entry(dtype + "," + shape + R"(,"data_offsets":[0,4])"),
       "expected 8 bytes for tensor 'w' of this shape and dtype, got 4"},
      {R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{}})", "the key 'w' twice"},
  };
  for (const auto& c : cases) check_refused(file_bytes(c.header, kData), c.message);
}

BOOST_AUTO_TEST_CASE(float16_is_read_as_float32_without_loss) {
  std::string data(size_t{65536} * 2, '\0');
  for (size_t i = 0; i < 65536; ++i) {
    data[2 * i] = static_cast<char>(i & 0xFF);
    data[2 * i + 1] = static_cast<char>(i >> 8);
  }
  const Tensor w =
      read(file_bytes(R"({"w":{"dtype":"F16","shape":[65536],"data_offsets":[0,131072]}})", data))
          .tensors.at("w");
  BOOST_TEST(w.dtype() == DType::f32);
  const std::vector<double> values = w.to_vector();
  size_t n_wrong = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const int exponent = static_cast<int>(i >> 10 & 31), fraction = static_cast<int>(i & 1023);
    const double sign = i < 32768 ? 1 : -1;
    if (exponent == 31)
      n_wrong += fraction == 0 ? values[i] != sign * HUGE_VAL : !std::isnan(values[i]);
    else
      n_wrong += values[i] != sign * std::ldexp(exponent == 0 ? fraction : 1024 + fraction,
                                                std::max(exponent, 1) - 25) ||
                 std::signbit(values[i]) != (i >= 32768);
  }
  BOOST_TEST(n_wrong == 0u);
  BOOST_TEST(values[0x3C00] == 1.0);
  BOOST_TEST(values[0x7BFF] == 65504.0);
}

BOOST_AUTO_TEST_CASE(other_dtypes_are_refused_by_name) {
  for (const std::string dtype : {"U16", "I64", "U8", "BOOL", "F8_E4M3", "C64", "F4", "f32", ""})
    check_refused(
        file_bytes(R"({"w":{"dtype":")" + dtype + R"(","shape":[2],"data_offsets":[0,8]}})", kData),
        ": expected dtype F32, F16, BF16, F64 or I32 for tensor 'w', got '" + dtype + "'");
}

BOOST_AUTO_TEST_CASE(random_damage_never_does_worse_than_an_error) {
  const Random random{1, stream_of("damage")};
  const std::string good = file_bytes(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
      R"("b":{"dtype":"BF16","shape":[1,2],"data_offsets":[4,8]}})",
      kData);
  int refused = 0;
  for (uint64_t i = 0; i < 3000; ++i) {
    std::string bytes = good;
    for (uint64_t k = 0; k <= random.below(4 * i, 3); ++k)
      bytes[random.below(8 * i + k, bytes.size())] =
          static_cast<char>(random.below(8 * i + k + (1 << 20), 256));
    const std::filesystem::path damaged = folder / "damaged";
    std::ofstream(damaged, std::ios::binary) << bytes;
    try {
      read_safetensors(damaged);
    } catch (const IoError&) {
      ++refused;
    }
  }
  BOOST_TEST(refused > 2000);
}

BOOST_AUTO_TEST_CASE(a_damaged_byte_is_found_by_the_hash) {
  const std::string hash = write_safetensors(path, {{"w", Tensor::from({1, -2}, {2})}});
  BOOST_CHECK_NO_THROW(read_safetensors(path, hash));
  std::string bytes = read_file(path);
  bytes.back() ^= 1;  // still a legal file
  write_file_atomic(path, bytes);
  BOOST_CHECK_NO_THROW(read_safetensors(path));
  BOOST_CHECK_EXCEPTION(read_safetensors(path, hash), IoError,
                        says(path.string(), ": expected the hash ", hash, ", got ",
                             "; the file is damaged or was replaced"));
}

BOOST_AUTO_TEST_CASE(names_that_cannot_be_stored_are_refused) {
  const Tensor x = Tensor::full({1}, 1);
  BOOST_CHECK_EXCEPTION(write_safetensors(path, {{"a", x}, {"a", x}}), ConfigError,
                        says("expected each tensor under a name of its own, got 'a' twice"));
  BOOST_CHECK_EXCEPTION(write_safetensors(path, {{"__metadata__", x}}), ConfigError,
                        says("'__metadata__', which is reserved"));
  BOOST_CHECK_EXCEPTION(write_safetensors(path, {{"\xff", x}}), ConfigError, says("UTF-8"));
  BOOST_TEST(folder.entries() == 0);
}

BOOST_AUTO_TEST_CASE(a_full_disk_leaves_the_old_file) {
  const std::string hash = write_safetensors(path, {{"w", Tensor::from({1, -2}, {2})}});
  {
    const FileSizeLimit limit(4096);
    BOOST_CHECK_EXCEPTION(write_safetensors(path, {{"w", Tensor::zeros({4096})}}), IoError,
                          says(path.string(), "cannot write"));
  }
  BOOST_CHECK_NO_THROW(read_safetensors(path, hash));
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
