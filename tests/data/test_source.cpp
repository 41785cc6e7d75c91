#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "data/source.h"
#include "engine/base/error.h"
#include "engine/base/file_error.h"
#include "engine/base/random.h"
#include "tests/support/gzip_member.h"
#include "tests/support/messages.h"
#include "tests/support/standard_input.h"
#include "tests/support/temp_folder.h"
#include "tests/support/unprivileged.h"
#include "tests/support/zstd_frame.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_source)
namespace {

namespace fs = std::filesystem;
using Documents = std::vector<std::string>;

struct Fixture {
  TempFolder folder;
  SourceOptions options;
  Skipped skipped;
  std::vector<SourceRecord> records;

  void put(const std::string& name, const std::string& bytes) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  Documents read(const std::vector<std::string>& inputs) {
    options.inputs.clear();
    for (const std::string& input : inputs) options.inputs.push_back(folder / input);
    DocumentReader reader(options);
    Documents documents;
    for (std::string text; reader.next(text);) documents.push_back(text);
    skipped = reader.skipped();
    records = reader.records();
    BOOST_TEST(reader.bytes_read() <= reader.bytes_total());
    return documents;
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> lines;
    for (const FileNote& note : skipped.files.all()) lines.push_back(note.file + ' ' + note.what);
    return lines;
  }
};

BOOST_FIXTURE_TEST_SUITE(source, Fixture)

BOOST_AUTO_TEST_CASE(a_file_is_read_by_its_ending) {
  put("a.txt", "text");
  put("b.jsonl", "{\"text\":\"one\"}\n{\"text\":\"two\"}\n");
  put("c.jsonl.zst", zstd_frame("{\"text\":\"three\"}\n"));
  put("d.txt.zst", zstd_frame("four"));
  put("e.jsonl.gz", gzip_member("{\"text\":\"five\"}\n") + gzip_member("{\"text\":\"six\"}\n"));
  put("f.txt.gz", gzip_member("seven"));
  BOOST_TEST(read({"c.jsonl.zst", "a.txt", "b.jsonl", "d.txt.zst", "e.jsonl.gz", "f.txt.gz"}) ==
             Documents({"three", "text", "one", "two", "four", "five", "six", "seven"}));
  BOOST_TEST(records.size() == 6u);
  BOOST_TEST(records[1].path == (folder / "a.txt").string());
  BOOST_TEST(records[1].size_bytes == 4);
  BOOST_TEST(records[1].hash == hash_hex("text"));
}

BOOST_AUTO_TEST_CASE(a_folder_stands_for_its_files_in_order_of_their_paths) {
  put("in/b.txt", "2");
  put("in/a/z.txt", "1b");
  put("in/a/b/c.txt", "1a");
  put("in/c.jsonl", "{\"text\":\"3\"}\n");
  put("in/.git/config", "hidden");
  put("in/.hidden", "hidden");
  BOOST_TEST(read({"in"}) == Documents({"1a", "1b", "2", "3"}));
  BOOST_TEST(records[0].files == 4);
  BOOST_TEST(records[0].size_bytes == 18);
}

BOOST_AUTO_TEST_CASE(the_hash_of_a_folder_covers_names_and_bytes) {
  put("in/a", "1");
  put("in/b", "2");
  read({"in"});
  const std::string hash = records[0].hash;
  fs::rename(folder / "in/b", folder / "in/c");
  read({"in"});
  BOOST_TEST(records[0].hash != hash);
  fs::rename(folder / "in/c", folder / "in/b");
  read({"in"});
  BOOST_TEST(records[0].hash == hash);
}

BOOST_AUTO_TEST_CASE(endings_choose_the_files_of_a_folder) {
  for (const std::string name : {"a.h", "b.hpp", "c++/vector", "d.cpp", "h", "e.tar.h"})
    put("in/" + name, name);
  options.endings = {"h"};
  BOOST_TEST(read({"in"}) == Documents({"a.h", "e.tar.h"}));
  options.endings = {".h", "hpp", "none"};
  BOOST_TEST(read({"in"}) == Documents({"a.h", "b.hpp", "c++/vector", "e.tar.h", "h"}));
  options.endings = {"*.h"};
  BOOST_TEST(read({"in"}) == Documents({"a.h", "e.tar.h"}));
  options.endings = {"tar.h"};
  BOOST_TEST(read({"in"}) == Documents({"e.tar.h"}));
  BOOST_TEST(read({"in/d.cpp"}) == Documents({"d.cpp"}));  // named itself
  options.endings = {"py"};
  BOOST_CHECK_EXCEPTION(
      read({"in"}), ConfigError,
      says("/in: expected a folder with text files of the wanted endings, got none"));
}

BOOST_AUTO_TEST_CASE(links_make_no_loops) {
  put("in/a/file", "1");
  put("outside", "2");
  fs::create_directory_symlink("..", folder / "in/a/up");
  fs::create_directory_symlink(folder / "in", folder / "in/self");
  fs::create_symlink(folder / "outside", folder / "in/linked");
  fs::create_symlink(folder / "nowhere", folder / "in/broken");
  fs::create_directory_symlink(folder / "in", folder / "alias");
  BOOST_TEST(read({"in"}) == Documents({"1", "2"}));
  BOOST_TEST(read({"alias"}) == Documents({"1", "2"}));
}

BOOST_AUTO_TEST_CASE(binary_and_empty_files_of_a_folder_are_left_out_and_counted) {
  put("in/a", std::string("\x7f"
                          "ELF\0",
                          5));
  put("in/b", "");
  put("in/c", "text");
  BOOST_TEST(read({"in"}) == Documents({"text"}));
  BOOST_TEST(skipped.binary_files == 1);
  BOOST_TEST(skipped.empty_documents == 1);
  options.jsonl.allow_binary = true;
  BOOST_TEST(read({"in"}).size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_named_file_that_looks_binary_is_refused_unless_told_otherwise) {
  std::string noise;
  for (uint64_t i = 0; i < 4000; ++i)
    noise += static_cast<char>(1 + Random{1, 2}.below(i, 255));  // no NUL
  put("nul.txt", std::string("text\0", 5));
  put("noise.txt", noise);
  put("a.zip", "PK\x03\x04 and so on");
  put("a.txt.gz", gzip_member("PK\x03\x04 and so on"));
  put("a.jsonl", gzip_member("{\"text\":\"a\"}\n"));  // as downloads are named by mistake
  put("in/a.pdf", "%PDF-1.5\n");
  put("in/noise", noise);
  put("in/text", "text");
  const auto refused = [&](const std::string& name, const std::string& found) {
    BOOST_CHECK_EXCEPTION(
        read({name}), IoError,
        says(name + ": expected text, got ", found, "; --allow-binary reads its bytes as text"));
  };
  refused("nul.txt", "a NUL byte");
  refused("noise.txt", "bytes of which most are not UTF-8");
  refused("a.zip", "a zip archive");
  refused("a.txt.gz", "a zip archive");
  refused("a.jsonl", "a gzip file; give it a name that ends in .gz and it is decompressed");
  BOOST_TEST(read({"in"}) == Documents({"text"}));
  BOOST_TEST(skipped.binary_files == 2);
  options.jsonl.allow_binary = true;
  for (const std::string name : {"nul.txt", "noise.txt", "a.zip", "a.txt.gz"})
    BOOST_TEST(read({name}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(duplicates_are_dropped_when_asked) {
  put("in/a", "same");
  put("in/b", "other");
  put("in/c.jsonl", "{\"text\":\"same\"}\n{\"text\":\"same \"}\n");
  BOOST_TEST(read({"in"}).size() == 4u);
  options.drop_duplicates = true;
  BOOST_TEST(read({"in"}) == Documents({"same", "other", "same "}));
  BOOST_TEST(skipped.duplicates == 1);
}

BOOST_AUTO_TEST_CASE(the_text_is_cut_off_behind_the_limit_between_characters) {
  put("a.jsonl", "{\"text\":\"1234\"}\n{\"text\":\"56\xE4\xB8\xAD\"}\n{\"text\":\"7\"}\n");
  const struct {
    int64_t limit;
    Documents want;
  } cases[] = {{0, {"1234", "56\xE4\xB8\xAD", "7"}},
               {3, {"123"}},
               {4, {"1234"}},
               {5, {"1234", "5"}},
               {8, {"1234", "56"}},
               {9, {"1234", "56\xE4\xB8\xAD"}},
               {100, {"1234", "56\xE4\xB8\xAD", "7"}}};
  for (const auto& c : cases) {
    options.max_bytes = c.limit;
    BOOST_TEST(read({"a.jsonl"}) == c.want);
  }
}

BOOST_AUTO_TEST_CASE(a_limit_within_a_line_or_a_file_ends_the_reading) {
  const std::string line = "{\"text\":\"" + std::string(8 << 20, 'a') + "\"}\n";
  put("a.jsonl", line + line);
  put("a.txt", std::string(8 << 20, 'a'));
  for (const std::string name : {"a.jsonl", "a.txt"}) {
    options.max_bytes = 1000;
    BOOST_TEST(read({name}) == Documents({std::string(1000, 'a')}));
    BOOST_TEST(records[0].size_bytes < 2'000'000);
  }
  options.drop_duplicates = true;  // only the whole line says whether it is one
  BOOST_TEST(read({"a.jsonl"}) == Documents({std::string(1000, 'a')}));
  BOOST_TEST(records[0].size_bytes > 8'000'000);
}

BOOST_AUTO_TEST_CASE(invalid_utf8_is_replaced_and_counted_or_an_error) {
  put("a.txt", "abc\xFF\xE4\xB8");
  BOOST_TEST(read({"a.txt"}) == Documents({"abc\xEF\xBF\xBD\xEF\xBF\xBD"}));
  BOOST_TEST(skipped.invalid_utf8 == 2);
  options.jsonl.is_strict = true;
  BOOST_CHECK_EXCEPTION(
      read({"a.txt"}), IoError,
      says("a.txt: expected valid UTF-8, got an ill-formed sequence at byte 3 of its text"));
}

BOOST_AUTO_TEST_CASE(standard_input_is_known_by_its_first_bytes) {
  const std::string lines = "\n {\"text\":\"one\"}\n{\"text\":\"two\"}\n";
  const std::string skippable = std::string("\x50\x2A\x4D\x18\x02\0\0\0ab", 10);
  const struct {
    std::string bytes;
    Documents want;
  } cases[] = {{lines, {"one", "two"}},
               {"some text", {"some text"}},
               {zstd_frame(lines), {"one", "two"}},
               {skippable + zstd_frame("text"), {"text"}},
               {gzip_member("text"), {"text"}},
               {gzip_member(lines), {"one", "two"}},
               {"", {}}};
  for (const auto& c : cases) {
    const StandardInput input(c.bytes);
    options.inputs = {"-"};
    DocumentReader reader(options);
    BOOST_TEST(reader.bytes_total() == 0);  // of a pipe nobody knows
    Documents documents;
    for (std::string text; reader.next(text);) documents.push_back(text);
    BOOST_TEST(documents == c.want);
    BOOST_TEST(reader.records()[0].path == "-");
    BOOST_TEST(reader.records()[0].size_bytes == static_cast<int64_t>(c.bytes.size()));
    BOOST_TEST(reader.records()[0].hash == hash_hex(c.bytes));
  }
  options.inputs = {"-", "-"};
  BOOST_CHECK_EXCEPTION(DocumentReader{options}, ConfigError, says("got it twice"));
  options.inputs = {"-"};
  const StandardInput archive("PK\x03\x04 and so on");
  DocumentReader reader(options);
  std::string text;
  BOOST_CHECK_EXCEPTION(reader.next(text), IoError,
                        says("standard input: expected text, got a zip"));
}

BOOST_AUTO_TEST_CASE(the_format_can_be_said) {
  put("lines", "{\"text\":\"one\"}\n");
  put("text.jsonl", "{\\bf text}");
  options.format = InputFormat::jsonl;
  BOOST_TEST(read({"lines"}) == Documents({"one"}));
  options.format = InputFormat::text;
  BOOST_TEST(read({"text.jsonl"}) == Documents({"{\\bf text}"}));
  const StandardInput input("{\\bf text}");
  options.inputs = {"-"};
  std::string text;
  BOOST_TEST(DocumentReader(options).next(text));
  BOOST_TEST(text == "{\\bf text}");
}

BOOST_AUTO_TEST_CASE(a_subset_is_of_json_lines) {
  put("in/a.jsonl", "{\"text\":\"a\",\"meta\":{\"pile_set_name\":\"x\"}}\n{\"text\":\"b\"}\n");
  put("in/b.txt", "text");
  options.jsonl.subsets = {"x"};
  BOOST_TEST(read({"in"}) == Documents({"a"}));
  BOOST_TEST(skipped.other_subsets == 2);
  BOOST_CHECK_EXCEPTION(read({"in/b.txt"}), ConfigError,
                        says("b.txt: expected JSON Lines, of which --subset takes a part"));
}

BOOST_AUTO_TEST_CASE(documents_on_disk_are_those_in_memory) {
  std::string text = "\xEF\xBB\xBF";
  for (int i = 0; i < 30'000; ++i) text += std::to_string(i) + "\xE4\xB8\xAD \xFF\xF0\x9F";
  put("in/a.txt", text);
  put("in/b.jsonl",
      "{\"text\":\"" + text + "\"}\n{\"text\":\"short\"}\n{\"text\":\"" + text + "\"}\n");
  put("in/c.txt.gz", gzip_member(text));
  put("in/d.txt", text + std::string("\0", 1));
  for (const bool dedupe : {false, true})
    for (const int64_t limit : {0, 1000, 150'001, 300'000, 320'003}) {
      options.drop_duplicates = dedupe;
      options.max_bytes = limit;
      options.most_in_memory = SIZE_MAX;
      const Documents want = read({"in"});
      const Skipped counts = skipped;
      for (const size_t most : {0, 5000, 250'000}) {
        options.most_in_memory = most;
        BOOST_CHECK(read({"in"}) == want);
        BOOST_CHECK(named_counts(skipped) == named_counts(counts));
      }
    }
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_CASE(json_lines_are_read_whatever_their_name_and_a_note_says_so) {
  put("a.json", "{\"text\":\"one\",\"id\":1}\n{\"text\":\"two\"}\n");
  put("b.txt.gz", gzip_member("{\"text\":\"three\"}\n"));
  put("c.json", "[{\"text\":\"x\"}]");
  put("d.csv", "a,b\n");
  put("in/e.json", "{\"content\":\"four\"}\n{\"content\":\"five\"}\n");
  BOOST_TEST(read({"a.json", "b.txt.gz", "c.json", "d.csv"}) ==
             Documents({"one", "two", "three", "[{\"text\":\"x\"}]", "a,b\n"}));
  BOOST_TEST_REQUIRE(notes().size() == 4u);
  BOOST_TEST(notes()[0].find("a.json holds JSON Lines") != std::string::npos);
  BOOST_TEST(notes()[2].find("c.json is JSON but not JSON Lines") != std::string::npos);
  BOOST_TEST(notes()[3].find("d.csv is a table; read as plain text") != std::string::npos);
  BOOST_TEST(read({"in"}).empty());
  BOOST_TEST(skipped.missing_text == 2);
  options.format = InputFormat::text;
  BOOST_TEST(read({"a.json"}).size() == 1u);
  BOOST_TEST(notes().empty());
}

BOOST_AUTO_TEST_CASE(files_that_lose_text_are_named_with_the_reason) {
  const std::string latin = "caf\xE9 and na\xEFve, a text of some length in Latin-1";
  std::string wide;
  for (const char c : std::string("a text in UTF-16 without a mark")) wide += {c, '\0'};
  put("in/a", "\xFF\xFE" + wide);
  put("in/b", wide);
  put("in/c", latin);
  put("in/d", "\xC3\xA9 and " + latin);
  put("in/e.jsonl", "{\"text\":\"x\"}\nno JSON\n{\"other\":1}\n{\"text\":\"\\ud800\"}\n");
  put("in/f", "sound");
  options.jsonl.skip_bad_lines = true;
  BOOST_TEST(read({"in"}).size() == 5u);
  BOOST_TEST(skipped.binary_files == 2);
  BOOST_TEST_REQUIRE(notes().size() == 5u);
  const auto has = [&](size_t i, const std::string& part) {
    BOOST_TEST(notes()[i].find(part) != std::string::npos, part << " is not in " << notes()[i]);
  };
  has(0, "in/a is left out: text in UTF-16 or UTF-32; convert it first");
  has(1, "in/b is left out: text in UTF-16; convert it first (iconv -f UTF-16LE");
  has(2, "in/c has sequences that are not UTF-8, replaced by U+FFFD: 2 (Latin-1 or the like");
  has(3, "in/d has sequences that are not UTF-8, replaced by U+FFFD: 2 (damaged");
  has(4,
      "in/e.jsonl has lines that are not JSON, left out: 1; objects without text, left out: 1; "
      "lone surrogates, replaced by U+FFFD: 1");
}

BOOST_AUTO_TEST_CASE(inputs_that_the_limit_leaves_unread_are_counted) {
  put("a", std::string(100, 'a'));
  put("in/b", "b");
  put("in/c", "c");
  options.max_bytes = 100;
  BOOST_TEST(read({"a", "in", "a"}).size() == 1u);
  BOOST_TEST(records[0].unread_files == 0);
  BOOST_TEST(records[1].unread_files == 2);
  BOOST_TEST(records[2].unread_files == 1);
  options.max_bytes = 101;
  BOOST_TEST(read({"a", "in"}).size() == 2u);
  BOOST_TEST(records[1].unread_files == 1);
  BOOST_CHECK_THROW(read({"a", "none"}), ConfigError);
}

BOOST_AUTO_TEST_CASE(each_part_of_the_inputs_has_the_limit_for_itself) {
  put("a", std::string(100, 'a'));
  put("b", std::string(100, 'b'));
  put("c", "c");
  options.inputs = {folder / "a", folder / "a", folder / "b", folder / "c"};
  options.parts = {0, 0, 1, 2};
  options.max_bytes = 60;
  DocumentReader reader(options);
  std::vector<std::pair<size_t, size_t>> found;
  for (Document document; reader.next(document);)
    found.emplace_back(document.part(), document.size());
  BOOST_CHECK((found == std::vector<std::pair<size_t, size_t>>{{0, 60}, {1, 60}, {2, 1}}));
  BOOST_TEST(reader.records()[1].unread_files == 1);
  BOOST_TEST(reader.records()[3].unread_files == 0);
}

BOOST_AUTO_TEST_CASE(what_is_made_of_a_folder_is_no_text_of_it) {
  put("in/a", "text");
  put("in/sub/out", "text");
  put("in/out/manifest.json", "{}");
  put("in/out.tmp-12/train.tokens", "x");
  put("in/corpus/manifest.json", "{\"format\":\"farfield corpus\",\"version\":1}");
  put("in/corpus/train.tokens", "x");
  options.output = folder / "in/./out/";
  BOOST_TEST(read({"in"}).size() == 2u);
  BOOST_TEST_REQUIRE(notes().size() == 1u);
  BOOST_TEST(notes()[0].find("in/corpus is left out: a corpus made by prepare") !=
             std::string::npos);
  BOOST_CHECK_EXCEPTION(read({"in/corpus"}), ConfigError,
                        says("expected text, got a corpus made by prepare"));
}

BOOST_AUTO_TEST_CASE(a_pipe_is_read_as_standard_input_is) {
  int ends[2];
  BOOST_TEST_REQUIRE(::pipe(ends) == 0);
  const std::string bytes = zstd_frame("{\"text\":\"one\"}\n{\"text\":\"two\"}\n");
  BOOST_TEST(::write(ends[1], bytes.data(), bytes.size()) > 0);
  ::close(ends[1]);
  options.inputs = {"/dev/fd/" + std::to_string(ends[0])};
  {
    DocumentReader reader(options);
    BOOST_TEST(reader.bytes_total() == 0);
    std::string text;
    BOOST_TEST((reader.next(text) && text == "one" && reader.next(text) && text == "two"));
    BOOST_TEST(!reader.next(text));
  }
  options.inputs.push_back(options.inputs.front());
  BOOST_CHECK_EXCEPTION(DocumentReader{options}, ConfigError, says("got it twice"));
  ::close(ends[0]);
}

BOOST_AUTO_TEST_CASE(what_may_not_be_read_is_said_before_anything_is) {
  put("a", "text");
  put("b", "text");
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(folder / "b", fs::perms::none);
  const Unprivileged nobody;
  BOOST_CHECK_EXCEPTION(read({"a", "b"}), PermissionError,
                        says("/b: cannot open: Permission denied"));
}

BOOST_AUTO_TEST_CASE(hidden_folders_are_never_looked_into) {
  put("in/a", "text");
  put("in/.hidden/b", "text");
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(folder / "in/.hidden", fs::perms::none);
  const Unprivileged nobody;
  BOOST_TEST(read({"in"}) == Documents({"text"}));
}

BOOST_AUTO_TEST_CASE(inputs_that_cannot_be_are_named) {
  BOOST_CHECK_EXCEPTION(read({}), ConfigError, says("expected at least one input"));
  BOOST_CHECK_EXCEPTION(read({"none"}), ConfigError,
                        says("/none: expected a file or a folder, got nothing of that name"));
  BOOST_CHECK_EXCEPTION(read({"/../../../../../../../../dev/null"}), ConfigError,
                        says("expected a file or a folder, got something else"));
  fs::create_directory(folder / "empty");
  BOOST_CHECK_EXCEPTION(read({"empty"}), ConfigError,
                        says("/empty: expected a folder with text files, got none"));
  put("cut.txt.zst", zstd_frame("some text").substr(0, 12));
  BOOST_CHECK_EXCEPTION(read({"cut.txt.zst"}), IoError, says("cut.txt.zst", "cut short"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
