#include <boost/test/unit_test.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "data/tokenizers/tokenizer_json.h"
#include "engine/base/error.h"
#include "tests/data/tokenizers/hello_bpe.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_characters)
namespace {

using Tree = nlohmann::ordered_json;

const std::string kMark = "\xE2\x96\x81";

// As Llama 2 has it: <unk> 0, <s> 1, </s> 2, the bytes from 3 on, and behind them, from 259 on, the
// marked blank, h, e, l, o, he, ll, hello, the last three with a blank in front, and two of them.
Tree llama() {
  Tree t = Tree::parse(R"({"normalizer": {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
      "pre_tokenizer": null,
      "decoder": {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
      "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true,
        "merges": ["h e", "l l", "he ll", "hell o", "▁ hello", "▁ ▁"]}})");
  int id = 0;
  for (const char* token : {"<unk>", "<s>", "</s>"})
    t["added_tokens"].push_back({{"id", id++}, {"content", token}, {"special", true}});
  Tree& vocab = t["model"]["vocab"];
  for (int i = 0; i < 3; ++i) vocab[t["added_tokens"][i]["content"].get<std::string>()] = i;
  for (int byte = 0; byte < 256; ++byte) vocab[byte_token(static_cast<unsigned char>(byte))] = id++;
  for (const char* token : {"▁", "h", "e", "l", "o", "he", "ll", "hell", "hello", "▁hello", "▁▁"})
    vocab[token] = id++;
  return t;
}

BpeTokenizer tokenizer(const std::function<void(Tree&)>& change = [](Tree&) {}) {
  Tree tree = llama();
  change(tree);
  return {"t", read_tokenizer_json("t.json", tree.dump()), {}};
}

std::string refusal(const std::function<void(Tree&)>& change) {
  return message_of<IoError>([&] { tokenizer(change); });
}

void use_metaspace(Tree& t, const char* scheme, bool split) {
  t["normalizer"] = nullptr;
  t["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", kMark}, {"prepend_scheme", scheme}, {"split", split}};
}

constexpr int32_t kBlank = 259, kHello = 267, kBlankHello = 268, kTwoBlanks = 269;
int32_t byte_id(int byte) { return 3 + byte; }

BOOST_AUTO_TEST_CASE(a_blank_stands_in_front_of_every_part) {
  const BpeTokenizer t = tokenizer();
  BOOST_TEST(ids_of(t, "hello") == Ids({kBlankHello}));
  BOOST_TEST(ids_of(t, " hello") == Ids({kBlank, kBlankHello}));
  BOOST_TEST(ids_of(t, "hello</s>hello") == Ids({kBlankHello, 2, kBlankHello}));
  BOOST_TEST(ids_of(t, "").empty());
  BOOST_TEST(t.decode(Ids{kBlankHello, 2, kBlankHello}) == "hello</s> hello");
  BOOST_TEST(t.decode(Ids{1, kBlankHello}) == "<s> hello");
  BOOST_TEST(t.decode_within(Ids{kBlankHello}) == " hello");
  BOOST_TEST(t.decode(Ids{kTwoBlanks, kHello}) == " hello");
}

BOOST_AUTO_TEST_CASE(metaspace_puts_a_blank_where_it_is_told_to_unless_there_is_one) {
  const std::string text = "hello</s>hello</s> hello";
  for (const bool split : {false, true}) {
    const auto with = [&](const char* scheme) {
      return tokenizer([&](Tree& t) { use_metaspace(t, scheme, split); });
    };
    BOOST_TEST(ids_of(with("always"), text) == Ids({kBlankHello, 2, kBlankHello, 2, kBlankHello}));
    BOOST_TEST(ids_of(with("first"), text) == Ids({kBlankHello, 2, kHello, 2, kBlankHello}));
    BOOST_TEST(ids_of(with("never"), text) == Ids({kHello, 2, kHello, 2, kBlankHello}));
    BOOST_TEST(ids_of(with("first"), "</s>hello") == Ids({2, kHello}));
    BOOST_TEST(ids_of(with("first"), "  hello") == Ids({kBlank, kBlankHello}));
    BOOST_TEST(ids_of(with("never"), "hello  ") ==
               (split ? Ids({kHello, kBlank, kBlank}) : Ids({kHello, kTwoBlanks})));
  }
  // As older files say it.
  const BpeTokenizer older = tokenizer([](Tree& t) {
    use_metaspace(t, "always", true);
    t["pre_tokenizer"].erase("prepend_scheme");
    t["pre_tokenizer"]["add_prefix_space"] = false;
  });
  BOOST_TEST(ids_of(older, "hello") == Ids({kHello}));
}

BOOST_AUTO_TEST_CASE(a_character_without_a_token_is_its_bytes) {
  const BpeTokenizer t = tokenizer();
  const Ids ids = {kBlankHello, byte_id(0xC3), byte_id(0xA9), kBlank, byte_id('\n')};
  BOOST_TEST(ids_of(t, "hello\xC3\xA9 \n") == ids);
  BOOST_TEST(t.decode(ids) == "hello\xC3\xA9 \n");
  BOOST_TEST(ids_of(t, "\xFF") == Ids({kBlank, byte_id(0xFF)}));  // no UTF-8
  BOOST_TEST(t.decode(Ids{kBlank, byte_id(0xFF)}) == "\xFF");
}

BOOST_AUTO_TEST_CASE(a_character_without_a_token_and_bytes_is_unknown) {
  const auto without_bytes = [](bool fuses, bool has_unknown) {
    return tokenizer([&](Tree& t) {
      for (int byte = 0; byte < 256; ++byte)
        t["model"]["vocab"].erase(byte_token(static_cast<unsigned char>(byte)));
      t["model"]["fuse_unk"] = fuses;
      if (!has_unknown) t["model"]["unk_token"] = nullptr;
    });
  };
  const std::string text = "hello\xC3\xA9\xC3\xA9 x";
  BOOST_TEST(ids_of(without_bytes(true, true), text) == Ids({kBlankHello, 0, kBlank, 0}));
  BOOST_TEST(ids_of(without_bytes(false, true), text) == Ids({kBlankHello, 0, 0, kBlank, 0}));
  BOOST_CHECK_EXCEPTION(ids_of(without_bytes(true, false), text), IoError,
                        says("text that the vocabulary of t has tokens for, got the byte 0xC3 of "
                             "'\xC3\xA9' (U+00E9)"));
}

BOOST_AUTO_TEST_CASE(merges_that_join_words_are_made) {
  const auto joining = [](Tree& t) {
    t["model"]["vocab"]["o" + kMark] = 270;
    t["model"]["merges"].insert(t["model"]["merges"].begin(), "o " + kMark);
  };
  BOOST_TEST(ids_of(tokenizer(joining), "o o") == Ids({kBlank, 270, 263}));
  BOOST_TEST(ids_of(tokenizer(), "o o") == Ids({kBlank, 263, kBlank, 263}));
}

BOOST_AUTO_TEST_CASE(decoders_show_blanks_and_bytes_as_they_say) {
  const Ids ids = {kBlankHello, byte_id('!'), kTwoBlanks, kHello};
  const auto text_with = [&](const Tree& decoder) {
    return tokenizer([&](Tree& t) { t["decoder"] = decoder; }).decode(ids);
  };
  Tree steps = llama()["decoder"]["decoders"];
  BOOST_TEST(text_with(llama()["decoder"]) == "hello!  hello");
  steps.erase(3);
  BOOST_TEST(text_with({{"type", "Sequence"}, {"decoders", steps}}) == " hello!  hello");
  steps.erase(1);
  BOOST_TEST(text_with({{"type", "Sequence"}, {"decoders", steps}}) == " hello<0x21>  hello");
  BOOST_TEST(text_with({{"type", "Fuse"}}) == kMark + "hello<0x21>" + kMark + kMark + "hello");
  Tree metaspace = {{"type", "Metaspace"}, {"replacement", kMark}, {"prepend_scheme", "first"}};
  BOOST_TEST(text_with(metaspace) == "hello<0x21>  hello");
  BOOST_TEST(tokenizer([&](Tree& t) { t["decoder"] = metaspace; }).decode(Ids{kTwoBlanks}).empty());
  metaspace["prepend_scheme"] = "never";
  BOOST_TEST(text_with(metaspace) == " hello<0x21>  hello");
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
  for (const auto& change : std::vector<std::function<void(Tree&)>>{
           [](Tree&) {}, [](Tree& t) { use_metaspace(t, "first", false); },
           [](Tree& t) { use_metaspace(t, "always", true); },
           [](Tree& t) {
             t["decoder"] = {{"type", "Fuse"}};
           },
           [](Tree& t) {
             t["normalizer"]["normalizers"].insert(t["normalizer"]["normalizers"].begin(),
                                                   Tree{{"type", "NFC"}});
           },
           [](Tree& t) {  // a blank in a token
             t["model"]["vocab"]["h "] = 270;
             t["model"]["vocab"][" "] = 271;
             t["model"]["merges"].push_back({"h", " "});
             t["normalizer"] = nullptr;
           }}) {
    const BpeTokenizer t = tokenizer(change);
    const BpeTokenizer back("t", read_tokenizer_json("back", t.file()), {});
    BOOST_TEST((back.file() == t.file()));
    for (const char* text : {"hello  hello\xC3\xA9", "", " h h </s>hello"})
      BOOST_TEST(ids_of(back, text) == ids_of(t, text));
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_implemented_is_refused_by_name) {
  const auto check = [](const std::string& named, const std::function<void(Tree&)>& change) {
    const std::string message = refusal(change);
    BOOST_TEST_CONTEXT(named << " in: " << message) {
      BOOST_TEST(message.starts_with("[tokenizer] t.json: expected "));
      BOOST_TEST(message.find(named) != std::string::npos);
    }
  };
  check("'Prepend' of \"_\"", [](Tree& t) { t["normalizer"]["normalizers"][0]["prepend"] = "_"; });
  check("'Replace' of null", [](Tree& t) {
    t["normalizer"]["normalizers"][1]["pattern"] = {{"Regex", " "}};
  });
  check("Prepend without Replace", [](Tree& t) { t["normalizer"]["normalizers"].erase(1); });
  check("'Prepend' of \"\xE2\x96\x81\" twice", [](Tree& t) {
    t["normalizer"]["normalizers"].push_back(t["normalizer"]["normalizers"][0]);
  });
  check("Metaspace without a normalizer Replace, got both", [](Tree& t) {
    const Tree normalizer = t["normalizer"];
    use_metaspace(t, "first", false);
    t["normalizer"] = normalizer;
  });
  check("the replacement of Metaspace", [](Tree& t) {
    use_metaspace(t, "first", false);
    t["pre_tokenizer"]["replacement"] = "_";
  });
  check("prepend_scheme to be first, always or never, got 'last'",
        [](Tree& t) { use_metaspace(t, "last", false); });
  check("a token for each byte with byte_fallback, or none, got <0x00> and not all others",
        [](Tree& t) { t["model"]["vocab"].erase("<0x41>"); });
  const auto add = [](Tree& t, const std::string& content) {
    t["added_tokens"].push_back(
        {{"id", 300 + t["added_tokens"].size()}, {"content", content}, {"normalized", true}});
  };
  check("at most 1024 bytes in normalised text, got 3003",
        [&](Tree& t) { add(t, std::string(1000, ' ')); });
  check("added tokens that differ in normalised text, got '" + kMark + "x'", [&](Tree& t) {
    add(t, " x");
    add(t, kMark + "x");
  });
  check("decoder to be Metaspace", [](Tree& t) { t["decoder"] = nullptr; });
  check("got 'ByteLevel'", [](Tree& t) { t["decoder"] = {{"type", "ByteLevel"}}; });
  check("got 'Replace', 'Fuse', 'ByteFallback'", [](Tree& t) {
    t["decoder"]["decoders"].erase(3);
    std::swap(t["decoder"]["decoders"][1], t["decoder"]["decoders"][2]);
  });
  check("Strip of other than one blank", [](Tree& t) { t["decoder"]["decoders"][3]["start"] = 2; });
  check("Replace of \"_\"",
        [](Tree& t) { t["decoder"]["decoders"][0]["pattern"]["String"] = "_"; });
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
