#include <boost/test/unit_test.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "data/tokenizers/tokenizer_json.h"
#include "engine/base/error.h"
#include "tests/data/tokenizers/hello_bpe.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_tokenizer_json)
namespace {

using Tree = nlohmann::ordered_json;

std::string hello_text() {
  return tokenizer_json_text(checked(hello_definition(), "test", "hello"));
}

BpeDefinition read(const std::string& text) { return read_tokenizer_json("t.json", text); }

// The file with a change.
std::string changed(const std::function<void(Tree&)>& change) {
  Tree tree = Tree::parse(hello_text());
  change(tree);
  return tree.dump();
}

// What reading the file with a change says.
std::string refusal(const std::function<void(Tree&)>& change) {
  return message_of<IoError>([&] { read(changed(change)); });
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
  for (const Pattern pattern :
       {Pattern::none, Pattern::gpt2, Pattern::cl100k_base, Pattern::cl100k_lines, Pattern::qwen2,
        Pattern::gpt2_digits, Pattern::bloom}) {
    BpeDefinition d = hello_definition();
    d.pattern = pattern;
    d.normalizer = Normalizer::nfc;
    d.add_prefix_space = pattern == Pattern::gpt2;
    d.ignore_merges = true;
    d.added.push_back({301, "  \"\\\n\xE4\xB8\xAD", false, true});
    d.added.push_back({259, "hello", false, false});
    d = checked(d, "test", "hello");
    const std::string text = tokenizer_json_text(d);
    const BpeDefinition back = read(text);
    BOOST_TEST((back.pattern == pattern));
    BOOST_TEST((back.normalizer == Normalizer::nfc));
    BOOST_TEST(back.add_prefix_space == d.add_prefix_space);
    BOOST_TEST(back.ignore_merges);
    BOOST_TEST(back.tokens == d.tokens);
    BOOST_TEST(back.added.size() == 3u);
    BOOST_TEST(back.added.back().content == d.added.back().content);
    BOOST_TEST(back.added.back().is_normalized);
    BOOST_TEST((tokenizer_json_text(back) == text));
  }
}

BOOST_AUTO_TEST_CASE(both_spellings_of_merges_are_read) {
  const std::string pairs = changed([](Tree& t) {
    for (Tree& merge : t["model"]["merges"]) {
      const auto both = merge.get<std::string>();
      merge = {both.substr(0, both.find(' ')), both.substr(both.find(' ') + 1)};
    }
  });
  BOOST_TEST((tokenizer_json_text(read(pairs)) == hello_text()));
}

BOOST_AUTO_TEST_CASE(what_is_missing_has_its_default) {
  const BpeDefinition d = read(changed([](Tree& t) {
    for (const char* name :
         {"version", "truncation", "padding", "normalizer", "post_processor", "decoder"})
      t.erase(name);
    t["pre_tokenizer"] = {{"type", "ByteLevel"}};
    const Tree vocab = t["model"]["vocab"], merges = t["model"]["merges"];
    t["model"] = {{"vocab", vocab}, {"merges", merges}};
  }));
  BOOST_TEST((tokenizer_json_text(d) == hello_text()));
}

BOOST_AUTO_TEST_CASE(a_token_that_is_added_need_not_be_in_the_vocabulary) {
  const std::string text = changed([](Tree& t) { t["model"]["vocab"].erase("<|endoftext|>"); });
  BOOST_TEST((tokenizer_json_text(read(text)) == hello_text()));
}

BOOST_AUTO_TEST_CASE(other_forms_that_mean_the_same_are_read) {
  const std::string text = changed([](Tree& t) {
    t["normalizer"] = {{"type", "Sequence"}, {"normalizers", Tree::array()}};
    t["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {t["pre_tokenizer"]}}};
    t["model"]["continuing_subword_prefix"] = "";
    t["model"]["dropout"] = 0.0;
  });
  BOOST_TEST((tokenizer_json_text(read(text)) == hello_text()));
}

// As transformers 5 saves every tokenizer of GPT-2 and of GPT-NeoX.
BOOST_AUTO_TEST_CASE(a_post_processor_or_decoder_that_changes_no_id_is_read) {
  const Tree text_alone = Tree::parse(R"({"type": "TemplateProcessing",
      "single": [{"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
      "special_tokens": {}})");
  const Tree byte_level = {{"type", "ByteLevel"}};
  for (const Tree& part :
       {text_alone, Tree{{"type", "Sequence"}, {"processors", {byte_level, text_alone}}},
        Tree{{"type", "Sequence"}, {"processors", Tree::array()}}})
    BOOST_TEST((tokenizer_json_text(read(changed([&](Tree& t) { t["post_processor"] = part; }))) ==
                hello_text()));
  for (const Tree& part : {Tree{{"type", "Fuse"}}, Tree{{"type", "Sequence"}, {"decoders", {}}}})
    BOOST_TEST((tokenizer_json_text(read(changed([&](Tree& t) { t["decoder"] = part; }))) ==
                hello_text()));
}

// The parts of a TemplateProcessing: with 300, <|endoftext|>, in front and behind.
Tree template_of(bool has_begin, bool has_end) {
  const Tree text = Tree::parse(R"({"Sequence": {"id": "A", "type_id": 0}})"),
             token = Tree::parse(R"({"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}})");
  Tree single = Tree::array();
  if (has_begin) single.push_back(token);
  single.push_back(text);
  if (has_end) single.push_back(token);
  Tree result = {{"type", "TemplateProcessing"}, {"single", single}, {"pair", Tree::array()}};
  result["special_tokens"]["<|endoftext|>"] =
      Tree::parse(R"({"id": "<|endoftext|>", "ids": [300], "tokens": ["<|endoftext|>"]})");
  return result;
}

BOOST_AUTO_TEST_CASE(a_template_tells_what_stands_before_and_behind_a_text) {
  for (const bool has_begin : {false, true})
    for (const bool has_end : {false, true}) {
      const Tree part = template_of(has_begin, has_end);
      for (const Tree& whole :
           {part, Tree{{"type", "Sequence"}, {"processors", {{{"type", "ByteLevel"}}, part}}}}) {
        const BpeDefinition d = read(changed([&](Tree& t) { t["post_processor"] = whole; }));
        const BpeTokenizer t("t", d, {});
        BOOST_TEST(Ids(t.begin_of_text().begin(), t.begin_of_text().end()) ==
                   (has_begin ? Ids({300}) : Ids()));
        BOOST_TEST(Ids(t.end_of_text().begin(), t.end_of_text().end()) ==
                   (has_end ? Ids({300}) : Ids()));
        BOOST_TEST(ids_of(t, "hello") == Ids({259}));
        BOOST_TEST((t.file() == hello_text()) == (!has_begin && !has_end));
        BOOST_TEST((tokenizer_json_text(read(t.file())) == t.file()));
      }
    }
}

BOOST_AUTO_TEST_CASE(a_post_processor_that_is_not_understood_is_refused_by_name) {
  const auto check = [](const std::string& said, const Tree& part) {
    const std::string message = refusal([&](Tree& t) { t["post_processor"] = part; });
    BOOST_TEST_CONTEXT(said << " in: " << message)
    BOOST_TEST(message.find(said) != std::string::npos);
  };
  check("got RobertaProcessing, which is not implemented; set post_processor to null",
        {{"type", "RobertaProcessing"}});
  check(
      "one TemplateProcessing that adds tokens",
      {{"type", "Sequence"}, {"processors", {template_of(true, false), template_of(true, false)}}});
  Tree part = template_of(true, false);
  part["special_tokens"] = Tree::object();
  check("expected '<|endoftext|>' among the special_tokens of TemplateProcessing, got none", part);
  part = template_of(true, false);
  part["special_tokens"]["<|endoftext|>"]["ids"] = {299};
  check("tokens in front of a text and behind it, got the id 299, which is none", part);
  part = template_of(true, false);
  part["single"].push_back(part["single"][1]);
  check("TemplateProcessing of other sequences", part);
  part["single"] = {part["single"][0]};
  check("TemplateProcessing without it", part);
}

// As tokenizers 0.23 has it: an id for each byte that has no token, or with fuse_unk for several.
BOOST_AUTO_TEST_CASE(bytes_without_a_token_are_the_unknown_one) {
  for (const bool fuses : {false, true}) {
    const std::string text = changed([&](Tree& t) {
      for (const char* character : {"q", "\xC3\x83", "\xC2\xA9"})  // 'q', and the bytes of é
        t["model"]["vocab"].erase(character);
      t["model"]["vocab"]["<unk>"] = 299;
      t["model"]["unk_token"] = "<unk>";
      t["model"]["fuse_unk"] = fuses;
    });
    const BpeTokenizer t("t", read(text), {});
    BOOST_TEST(ids_of(t, "h\xC3\xA9qllo") ==
               (fuses ? Ids({104, 299, 257, 111}) : Ids({104, 299, 299, 299, 257, 111})));
    BOOST_TEST(t.file() == tokenizer_json_text(read(t.file())));
    BOOST_TEST(t.file().find("\"unk_token\": \"<unk>\"") != std::string::npos);
    BOOST_TEST(ids_of(BpeTokenizer("t", read(t.file()), {}), "q") == Ids({299}));
  }
  BOOST_TEST(refusal([](Tree& t) {
               t["model"]["vocab"].erase("q");
               t["model"]["unk_token"] = "<none>";
             }).find("unk_token to be a token of vocab") != std::string::npos);
  // Where each byte has a token it is of no use, and no part of the definition.
  BOOST_TEST((tokenizer_json_text(read(changed(
                  [](Tree& t) { t["model"]["unk_token"] = "<|endoftext|>"; }))) == hello_text()));
}

BOOST_AUTO_TEST_CASE(a_vocabulary_without_some_bytes_does_for_text_without_them) {
  const BpeTokenizer t("small", read(changed([](Tree& tree) {
                         for (const char* character : {"q", "\xC2\xA9"})
                           tree["model"]["vocab"].erase(character);
                       })),
                       {});
  BOOST_TEST(ids_of(t, "hello") == Ids({259}));
  BOOST_CHECK_EXCEPTION(ids_of(t, "hello caf\xC3\xA9"), IoError,
                        says("expected text that the vocabulary of small has tokens for",
                             "got the byte 0xA9 of '\xC3\xA9' (U+00E9)"));
  BOOST_CHECK_EXCEPTION(ids_of(t, "hello q"), IoError, says("got the byte 0x71 of 'q' (U+0071)"));
  BOOST_CHECK_EXCEPTION(ids_of(t, "\xA9"), IoError, says("got the byte 0xA9, which is not UTF-8"));
}

BOOST_AUTO_TEST_CASE(tokenizers_of_other_kinds_are_named) {
  const auto says_kind = [](const std::string& kind, const std::function<void(Tree&)>& change) {
    const std::string message = refusal(change);
    BOOST_TEST_CONTEXT(message)
    BOOST_TEST(message.find("got a " + kind) != std::string::npos);
  };
  says_kind("SentencePiece tokenizer of model Unigram",
            [](Tree& t) { t["model"]["type"] = "Unigram"; });
  says_kind("SentencePiece", [](Tree& t) { t["normalizer"] = {{"type", "Precompiled"}}; });
  says_kind("WordPiece", [](Tree& t) { t["model"]["type"] = "WordPiece"; });
}

BOOST_AUTO_TEST_CASE(what_is_not_implemented_is_refused_by_name) {
  const auto check = [](const std::string& named, const std::function<void(Tree&)>& change) {
    const std::string message = refusal(change);
    BOOST_TEST_CONTEXT(named << " in: " << message) {
      BOOST_TEST(message.starts_with("[tokenizer] t.json: expected "));
      BOOST_TEST(message.find(named) != std::string::npos);
      BOOST_TEST(message.find("not implemented") != std::string::npos);
    }
  };
  check("WordPiece", [](Tree& t) { t["model"]["type"] = "WordPiece"; });
  check("dropout, got 0.1", [](Tree& t) { t["model"]["dropout"] = 0.1; });
  check("continuing_subword_prefix",
        [](Tree& t) { t["model"]["continuing_subword_prefix"] = "##"; });
  check("end_of_word_suffix", [](Tree& t) { t["model"]["end_of_word_suffix"] = "</w>"; });
  check("byte_fallback", [](Tree& t) {
    t["model"]["vocab"].erase("q");
    t["model"]["byte_fallback"] = true;
  });
  check("Replace where pre_tokenizer is ByteLevel", [](Tree& t) {
    t["normalizer"] = {
        {"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\xE2\x96\x81"}};
  });
  check("'NFKC'", [](Tree& t) { t["normalizer"] = {{"type", "NFKC"}}; });
  check("'Lowercase'", [](Tree& t) {
    t["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "Lowercase"}}}}};
  });
  check("'Digits'", [](Tree& t) { t["pre_tokenizer"] = {{"type", "Digits"}}; });
  check("'\\w+'", [](Tree& t) {
    t["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Split"}, {"pattern", {{"Regex", "\\w+"}}}, {"behavior", "Isolated"}},
          {{"type", "ByteLevel"}, {"use_regex", false}}}}};
  });
  check("truncation", [](Tree& t) { t["truncation"] = {{"max_length", 8}}; });
}

BOOST_AUTO_TEST_CASE(what_does_not_belong_together_is_refused) {
  const auto check = [](const std::string& said, const std::function<void(Tree&)>& change) {
    const std::string message = refusal(change);
    BOOST_TEST_CONTEXT(said << " in: " << message)
    BOOST_TEST(message.find(said) != std::string::npos);
  };
  const Tree huge = Tree::parse("9223372036854775808");
  check("expected each id once, got 97", [](Tree& t) { t["model"]["vocab"]["xyz"] = 97; });
  check("for 'xyz', got -1", [](Tree& t) { t["model"]["vocab"]["xyz"] = -1; });
  check("for 'xyz', got 4194304", [](Tree& t) { t["model"]["vocab"]["xyz"] = 4194304; });
  check("for 'xyz', got 9223372036854775808", [&](Tree& t) { t["model"]["vocab"]["xyz"] = huge; });
  check("for 'xyz', got 1.5", [](Tree& t) { t["model"]["vocab"]["xyz"] = 1.5; });
  check("for 'xyz', got string", [](Tree& t) { t["model"]["vocab"]["xyz"] = "1"; });
  check("got 'a b'; it is not a byte-level", [](Tree& t) { t["model"]["vocab"]["a b"] = 400; });
  check("at least one byte", [](Tree& t) { t["model"]["vocab"][""] = 400; });
  check("got 301 in vocab and 300 in added_tokens",
        [](Tree& t) { t["model"]["vocab"]["<|endoftext|>"] = 301; });
  check("expected each id once, got 97", [](Tree& t) {
    t["added_tokens"][0]["id"] = 97;
    t["model"]["vocab"].erase("<|endoftext|>");
  });
  check("'<|endoftext|>' twice",
        [](Tree& t) { t["added_tokens"].push_back(t["added_tokens"][0]); });
  check("1 to 1024 bytes, got 0", [](Tree& t) {
    t["added_tokens"][0]["content"] = "";
    t["model"]["vocab"].erase("<|endoftext|>");
  });
  check("got merge 9 of 'xyz'", [](Tree& t) { t["model"]["merges"].push_back("a xyz"); });
  check("makes none", [](Tree& t) { t["model"]["merges"].push_back("a a"); });
  check("merge 9 twice", [](Tree& t) { t["model"]["merges"].push_back("h e"); });
  check("a blank in merge 9", [](Tree& t) { t["model"]["merges"].push_back("he"); });
  check("merge 9 to be two strings", [](Tree& t) { t["model"]["merges"].push_back(7); });
  check("merge 9 to be two strings", [](Tree& t) { t["model"]["merges"].push_back({"h", 1}); });
  check("without a model", [](Tree& t) { t.erase("model"); });
  for (const char* name : {"added_tokens", "model", "normalizer", "pre_tokenizer"})
    check("expected ", [&](Tree& t) { t[name] = 7; });
  for (const char* name : {"vocab", "merges", "ignore_merges"})
    check("expected ", [&](Tree& t) { t["model"][name] = "x"; });
}

BOOST_AUTO_TEST_CASE(a_file_that_is_cut_or_no_json_is_refused) {
  const std::string text = hello_text();
  for (size_t size = 0; size + 3 < text.size(); size += 37)
    BOOST_CHECK_THROW(read(text.substr(0, size)), IoError);
  BOOST_CHECK_THROW(read(std::string(100000, '[')), IoError);
  BOOST_CHECK_THROW(read(R"({"model": {"vocab": {"a": 1, "a": 1}}})"), IoError);
  for (const char* other : {"", "7", "[]", "{}", "null", "\xFF", "{\"model\": null}"})
    BOOST_CHECK_THROW(read(other), IoError);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
