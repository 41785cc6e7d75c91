#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <sstream>

#include "apps/demo/run.h"
#include "apps/plot/gnuplot.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/apps/toy_run.h"
#include "tests/support/markup.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_demo_run)  // ctest: on_cuda:slow

using namespace farfield;
using namespace farfield::demo;
namespace fs = std::filesystem;

namespace {

struct Fixture {
  TempFolder folder;
  DemoOptions demo;

  Fixture() {
    write_file_atomic(folder / "text.txt", test::toy_words(6000, 1));
    demo.input = (folder / "text.txt").string();
    demo.out = (folder / "demo").string();
    demo.preset = "smoke";
    demo.encodings = {"sinusoidal", "alibi"};
    demo.train_len = 16;
    demo.steps = 4;
    demo.lengths = {16, 32};
    demo.segments = 8;
  }
  std::string run() {
    std::ostringstream out;
    cli::Printout page(out, "demo", /*is_json=*/false);
    BOOST_TEST(run_demo(demo, page) == cli::kDone);
    return out.str();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(the_demo_leaves_table_plot_and_page, Fixture) {
  const std::string said = run();
  BOOST_TEST(said.find("text: train 0.0 MB in ") == 0u, said);
  BOOST_TEST(said.find("; one token per byte\n") != std::string::npos, said);
  BOOST_TEST(said.find("last-token perplexity") != std::string::npos);
  for (const char* encoding : {"sinusoidal", "alibi"})
    BOOST_TEST(said.find(concat('\n', encoding, ": perplexity  16: ")) != std::string::npos, said);
  const fs::path out = demo.out;
  const test::Markup page = test::parse_markup(read_file(out / "index.html"));
  BOOST_TEST(page.fault == "");
  BOOST_TEST(page.named("svg").empty() != plot::can_plot());
  const auto links = page.values("href");
  BOOST_TEST(links.size() == 1u);
  for (const std::string& link : links) BOOST_TEST(fs::exists(out / link), link);
  BOOST_TEST(read_file(out / "last-token.csv").find("sinusoidal") != std::string::npos);
  if (plot::can_plot()) BOOST_TEST(fs::exists(out / "last-token.svg"));
}

BOOST_FIXTURE_TEST_CASE(run_again_it_trains_nothing_and_finds_the_same, Fixture) {
  run();
  const fs::path out = demo.out;
  const std::string table = read_file(out / "last-token.csv");
  const std::string weights = read_file(out / "alibi/checkpoints/step-00000004/model.safetensors");
  fs::remove_all(out / "sinusoidal");  // as if stopped before it
  run();
  BOOST_TEST(read_file(out / "last-token.csv") == table);
  BOOST_TEST((read_file(out / "alibi/checkpoints/step-00000004/model.safetensors") == weights));
}

BOOST_FIXTURE_TEST_CASE(a_folder_of_another_demo_or_of_something_else_is_left_alone, Fixture) {
  run();
  demo.steps = 5;
  std::ostringstream out;
  cli::Printout page(out, "demo", /*is_json=*/false);
  BOOST_CHECK_EXCEPTION(run_demo(demo, page), ConfigError,
                        says("[demo] ", ": holds a demo with steps = '4', not '5'"));
  demo.out = folder.path().string();
  BOOST_CHECK_EXCEPTION(run_demo(demo, page), ConfigError,
                        says("expected a new folder or one of an earlier demo"));
}

BOOST_FIXTURE_TEST_CASE(text_that_cannot_be_read_binds_no_later_call, Fixture) {
  const std::string text = demo.input;
  std::ostringstream out;
  cli::Printout page(out, "demo", /*is_json=*/false);
  demo.input = (folder / "nothing").string();
  BOOST_CHECK_THROW(run_demo(demo, page), Error);
  BOOST_TEST(!fs::exists(demo.out));
  // As a call leaves it that was killed while it read.
  fs::create_directory(demo.out);
  write_file_atomic(fs::path(demo.out) / "demo.conf", "input = nothing\n");
  demo.input = text;
  run();
  BOOST_TEST(read_file(fs::path(demo.out) / "demo.conf").find(text) != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(runs_bind_a_later_call_even_where_the_corpus_is_gone, Fixture) {
  run();
  const fs::path file = fs::path(demo.out) / "demo.conf";
  fs::remove_all(fs::path(demo.out) / "corpus");
  const std::string before = read_file(file);
  std::ostringstream out;
  cli::Printout page(out, "demo", /*is_json=*/false);
  demo.steps = 5;
  BOOST_CHECK_EXCEPTION(run_demo(demo, page), ConfigError, says("holds a demo with steps"));
  demo.steps = 4;
  fs::rename(demo.input, demo.input + ".away");
  BOOST_CHECK_THROW(run_demo(demo, page), Error);  // the text cannot be read again
  BOOST_TEST(read_file(file) == before);
}

BOOST_FIXTURE_TEST_CASE(lengths_that_the_text_has_not_are_refused_before_training, Fixture) {
  std::ostringstream out;
  cli::Printout page(out, "demo", /*is_json=*/false);
  demo.lengths = {16, 1000000};
  BOOST_CHECK_EXCEPTION(run_demo(demo, page), IoError,
                        says("[demo] nothing was trained: [eval:last-token] not_enough_data: "
                             "expected at least 1000000 tokens"));
  BOOST_TEST(!fs::exists(demo.out));
}

BOOST_FIXTURE_TEST_CASE(bad_options_are_refused_before_anything_is_written, Fixture) {
  std::ostringstream out;
  cli::Printout page(out, "demo", /*is_json=*/false);
  demo.encodings = {"alibi", "rope + rope"};
  BOOST_CHECK_THROW(run_demo(demo, page), ConfigError);
  demo.encodings = {"alibi"};
  demo.lengths = {32, 16};
  BOOST_CHECK_THROW(run_demo(demo, page), ConfigError);
  BOOST_TEST(!fs::exists(demo.out));
}

BOOST_AUTO_TEST_SUITE_END()
