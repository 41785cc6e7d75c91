#include <boost/test/unit_test.hpp>

#include "data/tokenizers/bytes.h"
#include "data/tokenizers/make.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_tokenizer)
namespace {

BOOST_AUTO_TEST_CASE(bytes_are_their_own_ids) {
  const ByteTokenizer bytes;
  std::vector<int32_t> ids = {7};
  bytes.encode("a\xC3\xA9\xFF", ids);
  BOOST_TEST(ids == std::vector<int32_t>({7, 97, 195, 169, 255}));
  BOOST_TEST(bytes.n_vocab() == 257);
  BOOST_TEST(bytes.end_of_document() == 256);
}

BOOST_AUTO_TEST_CASE(every_byte_comes_back) {
  const ByteTokenizer bytes;
  std::string text;
  for (int c = 0; c < 256; ++c) text += static_cast<char>(c);
  std::vector<int32_t> ids;
  bytes.encode(text, ids);
  ids.push_back(bytes.end_of_document());
  BOOST_TEST(bytes.decode(ids) == text);
}

BOOST_AUTO_TEST_CASE(ids_that_do_not_exist_are_refused) {
  const ByteTokenizer bytes;
  for (const int32_t id : {-1, 257, 319})
    BOOST_CHECK_EXCEPTION(bytes.decode({&id, 1}), IoError,
                          says("[tokenizer] expected ids from 0 to 256, got ", std::to_string(id)));
}

BOOST_AUTO_TEST_CASE(an_unknown_name_is_refused_with_a_suggestion) {
  BOOST_CHECK_EXCEPTION(make_tokenizer("byte"), ConfigError,
                        says("[tokenizer] ", "got 'byte'; did you mean 'bytes'?"));
  for (const std::string& name : tokenizer_names())
    BOOST_TEST(make_tokenizer(name)->name() == name);
}

BOOST_AUTO_TEST_CASE(the_vocabulary_is_padded_to_64) {
  BOOST_TEST(padded_vocab_size(257) == 320);
  BOOST_TEST(padded_vocab_size(64) == 64);
  BOOST_TEST(padded_vocab_size(65) == 128);
  BOOST_TEST(padded_vocab_size(50257) == 50304);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
