#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <iostream>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/file_error.h"
#include "engine/base/write_target.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/messages.h"
#include "tests/support/temp_folder.h"
#include "tests/support/unprivileged.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_file)  // ctest: arm64
namespace {

namespace fs = std::filesystem;

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
  const TempFolder folder;
  std::string text("a\0b", 3);
  for (int i = 0; i < 300000; ++i) text += static_cast<char>(i * i);
  text += text + text + text;  // more than one buffer
  for (const std::string& bytes : {std::string(), std::string("x"), text}) {
    write_file_atomic(folder / "file", bytes);
    BOOST_CHECK(read_file(folder / "file") == bytes);
    const MappedFile mapped(folder / "file");
    BOOST_CHECK(std::string_view(reinterpret_cast<const char*>(mapped.bytes().data()),
                                 mapped.bytes().size()) == bytes);
  }
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_CASE(a_file_without_commit_leaves_the_old_one) {
  const TempFolder folder;
  write_file_atomic(folder / "file", "old");
  {
    AtomicFile file(folder / "file");
    file.write("new");
    BOOST_TEST(file.size() == 3u);
    BOOST_TEST(read_file(folder / "file") == "old");
  }
  BOOST_TEST(read_file(folder / "file") == "old");
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_an_error_and_leaves_the_old_file) {
  const TempFolder folder;
  write_file_atomic(folder / "file", "old");
  {
    const FileSizeLimit limit(1000);
    BOOST_CHECK_EXCEPTION(write_file_atomic(folder / "file", std::string(5000, 'x')), IoError,
                          says("[file] ", "/file: cannot write: File too large"));
    BOOST_CHECK_THROW(write_file_atomic(folder / "file", std::string(3 << 20, 'x')), IoError);
  }
  BOOST_TEST(read_file(folder / "file") == "old");
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_CASE(bytes_are_appended_all_or_none) {
  const TempFolder folder;
  const fs::path file = folder / "log";
  BOOST_CHECK_EXCEPTION(append_file(file, "x"), IoError, says("log: cannot open: No such file"));
  write_file_atomic(file, "one\n");
  append_file(file, "two\n");
  append_file(file, "");
  BOOST_TEST(read_file(file) == "one\ntwo\n");
  const FileSizeLimit limit(20);
  BOOST_CHECK_EXCEPTION(append_file(file, std::string(100, 'x')), IoError,
                        says("log: cannot write: File too large"));
  BOOST_TEST(read_file(file) == "one\ntwo\n");
}

BOOST_AUTO_TEST_CASE(devices_pipes_and_folders_are_not_written_over) {
  const TempFolder folder;
  BOOST_TEST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0666) == 0);
  fs::create_directory(folder / "folder");
  fs::create_symlink("pipe", folder / "link");
  for (const char* name : {"pipe", "folder", "link"})
    BOOST_CHECK_EXCEPTION(write_file_atomic(folder / name, "x"), IoError,
                          says(concat("/", name), ": expected the name of a regular file to write",
                               "; choose another name"));
  BOOST_TEST(fs::is_fifo(folder / "pipe"));
  BOOST_TEST(folder.entries() == 3);
}

BOOST_AUTO_TEST_CASE(a_link_stays_and_what_it_leads_to_is_written) {
  const TempFolder folder;
  fs::create_directories(folder / "real/deep");
  write_file_atomic(folder / "real/file", "old");
  fs::create_symlink("real/file", folder / "link");
  fs::create_symlink(folder / "link", folder / "real/deep/absolute");
  fs::create_symlink("../new", folder / "real/deep/dangling");
  fs::create_symlink("real/deep", folder / "through");
  write_file_atomic(folder / "link", "one");
  BOOST_TEST(read_file(folder / "real/file") == "one");
  write_file_atomic(folder / "through/absolute", "two");
  BOOST_TEST(read_file(folder / "real/file") == "two");
  write_file_atomic(folder / "through/dangling", "three");
  BOOST_TEST(read_file(folder / "real/new") == "three");
  { AtomicFile(folder / "link").write("lost"); }
  BOOST_TEST(read_file(folder / "real/file") == "two");
  for (const char* link : {"link", "through", "real/deep/absolute", "real/deep/dangling"})
    BOOST_TEST(fs::is_symlink(folder / link), link);
  BOOST_TEST(folder.entries() == 3);
  fs::create_symlink("circle", folder / "circle");
  BOOST_CHECK_EXCEPTION(write_file_atomic(folder / "circle", "x"), IoError,
                        says("/circle: cannot write: Too many levels of symbolic links"));
}

BOOST_AUTO_TEST_CASE(a_linked_folder_is_filled_and_replaced_where_it_is) {
  const TempFolder folder;
  fs::create_directories(folder / "real/old");
  write_file_atomic(folder / "real/old/file", "x");
  fs::create_symlink("real/old", folder / "link");
  fs::create_symlink("real/a/new", folder / "dangling");
  fs::create_symlink("real/made", folder / "later");
  fs::create_directories(folder / "real/closed");
  fs::create_symlink("real/closed/", folder / "closed");
  fs::create_symlink("closed/", folder / "twice");
  for (const char* name : {"link/", "dangling", "closed", "twice"}) {
    AtomicFolder made(folder / name);
    write_file_atomic(made.folder() / "new", name);
    made.commit(/*replace=*/true);
  }
  make_folder(folder / "later/deep");
  require_writable_folder(folder / "later/");
  BOOST_TEST(!fs::exists(folder / "real/old/file"));
  BOOST_TEST(read_file(folder / "real/old/new") == "link/");
  BOOST_TEST(read_file(folder / "real/a/new/new") == "dangling");
  BOOST_TEST(read_file(folder / "real/closed/new") == "twice");
  BOOST_TEST(fs::is_directory(folder / "real/made/deep"));
  for (const char* link : {"link", "dangling", "later", "closed", "twice"})
    BOOST_TEST(fs::is_symlink(folder / link), link);
  BOOST_TEST(folder.entries() == 6);
}

BOOST_AUTO_TEST_CASE(a_place_can_be_tried_before_there_is_anything_to_write) {
  const TempFolder folder;
  write_file_atomic(folder / "file", "old");
  require_writable_file(folder / "file");
  require_writable_file(folder / "new");
  require_writable_folder(folder / "a/b");
  BOOST_TEST(read_file(folder / "file") == "old");
  BOOST_TEST(fs::is_empty(folder / "a/b"));
  BOOST_TEST(folder.entries() == 2);
  BOOST_CHECK_EXCEPTION(require_writable_folder(folder / "file"), IoError,
                        says("/file: cannot create the folder"));
  BOOST_CHECK_EXCEPTION(require_writable_file(folder / "none/file"), IoError,
                        says("cannot create: No such file or directory"));
  const FileSizeLimit full(100);
  BOOST_CHECK_EXCEPTION(require_writable_folder(folder / "a"), IoError,
                        says("cannot write: File too large"));
  BOOST_CHECK_EXCEPTION(require_writable_file(folder / "new"), IoError,
                        says("cannot write: File too large"));
  BOOST_TEST(folder.entries() == 2);
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_opened_are_named_with_the_reason) {
  const TempFolder folder;
  const std::string missing = "/missing: cannot open: No such file or directory";
  BOOST_CHECK_EXCEPTION(read_file(folder / "missing"), IoError, says(missing));
  BOOST_CHECK_EXCEPTION(MappedFile(folder / "missing"), IoError, says(missing));
  BOOST_CHECK_EXCEPTION(read_file(folder.path()), IoError, says("expected a regular file"));
  BOOST_CHECK_EXCEPTION(MappedFile(folder.path()), IoError, says("expected a regular file"));
  BOOST_CHECK_EXCEPTION(AtomicFile(folder / "missing/file"), IoError,
                        says("/missing/file: cannot create: No such file or directory"));
}

BOOST_AUTO_TEST_CASE(what_may_not_be_seen_is_not_missing) {
  const TempFolder folder;  // its owner's alone
  write_file_atomic(folder / "file", "x");
  BOOST_TEST(is_there(folder / "file"));
  BOOST_TEST(is_file(folder / "file"));
  BOOST_TEST(is_folder(folder.path()));
  BOOST_TEST(!is_there(folder / "none/file"));
  BOOST_TEST(!is_there(folder / "file/below"));
  BOOST_TEST(!is_empty_folder(folder.path()));
  fs::create_directory(folder / "empty");
  BOOST_TEST(is_empty_folder(folder / "empty"));
  if (::geteuid() != 0) fs::permissions(folder.path(), fs::perms::none);
  {
    const Unprivileged nobody;
    for (const auto look : {is_there, is_file, is_folder, is_empty_folder})
      BOOST_CHECK_EXCEPTION(look(folder / "file"), PermissionError,
                            says("/file: cannot look at: Permission denied; choose another place"));
  }
  if (::geteuid() != 0) fs::permissions(folder.path(), fs::perms::owner_all);
}

BOOST_AUTO_TEST_CASE(an_unwritable_folder_is_named_with_a_way_out) {
  if (::geteuid() == 0) {
    std::cerr << "SKIPPED: permissions do not bind the superuser\n";
    return;
  }
  const TempFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  BOOST_CHECK_EXCEPTION(AtomicFile(folder / "file"), IoError,
                        says("cannot create: Permission denied; choose another place"));
  BOOST_CHECK_EXCEPTION(AtomicFolder(folder / "folder"), IoError,
                        says("cannot create the folder: Permission denied; choose another place"));
  fs::permissions(folder.path(), fs::perms::owner_all);
}

BOOST_AUTO_TEST_CASE(a_folder_appears_at_its_commit) {
  const TempFolder folder;
  {
    AtomicFolder made(folder / "a/b/");
    write_file_atomic(made.folder() / "file", "x");
    BOOST_TEST(!fs::exists(folder / "a/b"));
    made.commit();
  }
  BOOST_TEST(read_file(folder / "a/b/file") == "x");
  { AtomicFolder dropped(folder / "c"); }
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_CASE(a_folder_replaces_another_only_when_asked) {
  const TempFolder folder;
  fs::create_directory(folder / "a");
  write_file_atomic(folder / "a/old", "x");
  {
    AtomicFolder made(folder / "a");
    BOOST_CHECK_EXCEPTION(made.commit(), IoError,
                          says("/a: cannot put the new folder in place: Directory not empty"));
  }
  BOOST_TEST(read_file(folder / "a/old") == "x");
  {
    AtomicFolder made(folder / "a");
    write_file_atomic(made.folder() / "new", "y");
    made.commit(/*replace=*/true);
  }
  BOOST_TEST(!fs::exists(folder / "a/old"));
  BOOST_TEST(read_file(folder / "a/new") == "y");
  BOOST_TEST(folder.entries() == 1);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
