#include "apps/generation/program.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <span>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/progress.h"
#include "apps/cli/threads.h"
#include "apps/generation/prompt.h"
#include "apps/generation/request.h"
#include "apps/generation/sample.h"
#include "apps/run/labels.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "engine/base/utf8.h"
#include "layers/generate.h"

namespace farfield::generation {
namespace {

constexpr std::string_view kWhere = "generate";

using Clock = std::chrono::steady_clock;

// Text on its way to `out`: on a terminal without bytes that would control it.
class Printer {
 public:
  explicit Printer(std::ostream& out)
      : out_(out), is_terminal_(&out == &std::cout && ::isatty(STDOUT_FILENO) == 1) {}

  void print(const std::string& text) {
    if (text.empty()) return;
    out_ << (is_terminal_ ? cli::printable(text) : text) << std::flush;
    ends_line_ = text.back() == '\n';
  }
  void end_line() {
    if (!ends_line_) out_ << std::endl;
    ends_line_ = true;
  }
  bool is_good() const { return out_.good(); }

 private:
  std::ostream& out_;
  bool is_terminal_, ends_line_ = false;
};

// "5 tokens, 1234 tokens/s"; without the speed where no time is known.
std::string speed_text(int64_t n, Clock::duration time, int64_t n_timed) {
  const std::string text = concat(n, n == 1 ? " token" : " tokens");
  const double seconds = std::chrono::duration<double>(time).count();
  if (n_timed == 0 || seconds <= 0) return text;
  const double speed = static_cast<double>(n_timed) / seconds;
  return concat(text, ", ", fixed(speed, speed < 10 ? 2 : 0), " tokens/s");
}

// What ended the samples: "2 x stop, 1 x end of document".
std::string reasons_text(const std::vector<Sample>& samples) {
  std::map<std::string, int64_t> counts;
  for (const Sample& sample : samples) ++counts[sample.reason()];
  std::vector<std::string> parts;
  for (const auto& [reason, n] : counts) {
    const std::string what = reason.empty() ? "all of --tokens" : reason;
    parts.push_back(samples.size() == 1 ? what : concat(n, " x ", what));
  }
  return joined(parts, ", ");
}

// The continuations of one call.
class Call {
 public:
  Call(const Request& request, const run::LoadedRun& run, const data::Tokenizer& tokenizer,
       std::ostream& out)
      : request_(request), run_(run), tokenizer_(tokenizer), printer_(out) {
    for (int64_t i = 0; i < request.samples; ++i) samples_.emplace_back(tokenizer, request);
    texts_.resize(samples_.size());
  }
  void go(const std::vector<int32_t>& prompt, const std::string& prompt_text);

 private:
  GenerateOptions options();
  bool take(std::span<const int32_t> next);
  void show(size_t i, const std::string& text);
  void print_texts(const std::string& echo);
  /// Of a prompt that was read for so many rows.
  void say_speeds(int64_t n_prompt, int64_t n_row) const;

  const Request& request_;
  const run::LoadedRun& run_;
  const data::Tokenizer& tokenizer_;
  Printer printer_;
  std::vector<Sample> samples_;
  std::vector<std::string> texts_;  // of several samples, which are printed at the end
  Clock::time_point begin_, first_, last_;
  bool has_begun_ = false;
};

GenerateOptions Call::options() {
  GenerateOptions options;
  options.n_new = request_.tokens;
  options.n_context = request_.cache_window;
  options.n_sink = request_.sinks;
  options.temperature = request_.temperature;
  options.filters = request_.filters;
  options.seed = request_.seed;
  options.n_token = std::min(tokenizer_.n_vocab(), run_.model.config().vocab_size);
  options.on_tokens = [this](std::span<const int32_t> next) { return take(next); };
  return options;
}

bool Call::take(std::span<const int32_t> next) {
  last_ = Clock::now();
  if (!has_begun_) first_ = last_;
  has_begun_ = true;
  bool are_done = true;
  for (size_t i = 0; i < next.size(); ++i) {
    show(i, samples_[i].add(next[i]));
    are_done = are_done && samples_[i].has_ended();
  }
  return !are_done && printer_.is_good();
}

void Call::show(size_t i, const std::string& text) {
  if (samples_.size() == 1)
    printer_.print(text);
  else
    texts_[i] += text;
}

void Call::print_texts(const std::string& echo) {
  for (size_t i = 0; i < texts_.size(); ++i) {
    printer_.print(concat("== sample ", i + 1, " of ", texts_.size(), " ==\n"));
    printer_.print(echo);
    printer_.print(texts_[i]);
    printer_.end_line();
  }
}

void Call::say_speeds(int64_t n_prompt, int64_t n_row) const {
  int64_t n_new = 0;
  for (const Sample& sample : samples_) n_new += sample.n_token();
  const int64_t n_sample = request_.samples;
  cli::remarks() << "prompt: " << (n_row > 1 ? concat(n_row, " times ") : "")
                 << speed_text(n_prompt, first_ - begin_, n_prompt * n_row)
                 << "; new: " << speed_text(n_new, last_ - first_, n_new - n_sample) << " ("
                 << reasons_text(samples_) << ")\n";
}

void Call::go(const std::vector<int32_t>& prompt, const std::string& prompt_text) {
  std::string echo = request_.echo ? prompt_text : "";
  replace_invalid_utf8(echo);
  if (samples_.size() == 1) printer_.print(echo);
  std::vector<int32_t> rows;
  for (int64_t i = 0; i < request_.samples; ++i)
    rows.insert(rows.end(), prompt.begin(), prompt.end());
  const auto n_prompt = static_cast<int64_t>(prompt.size());
  begin_ = Clock::now();
  const Generated made = generate(
      run_.model, Tensor::from(rows, {request_.samples, n_prompt}, run_.config.device), options());
  for (size_t i = 0; i < samples_.size(); ++i) show(i, samples_[i].finish());
  if (samples_.size() > 1)
    print_texts(echo);
  else
    printer_.end_line();
  if (!made.uncached.empty())
    cli::remarks() << "no cache, but a fresh pass over the last " << request_.cache_window
                   << " tokens for each new one: " << cli::printable(made.uncached) << '\n';
  say_speeds(n_prompt, made.n_prompt_read);
}

void say_run(const Request& request, const run::LoadedRun& run) {
  const std::string unfinished = run::unfinished_text(run.folder);
  if (!unfinished.empty() && !request.load.step)
    cli::remarks() << cli::printable(request.run) << ": unfinished: " << unfinished << '\n';
  for (const std::string& remark : run::remarks_on(run.unmatched))
    cli::remarks() << cli::printable(request.run) << ": " << remark << '\n';
}

}  // namespace

int generate_program(int argc, const char* const* argv, std::ostream& out) {
  Request request;
  if (!read_request(argc, argv, request, out)) return cli::kDone;
  cli::use_threads(request.threads, cli::remarks());
  const std::string prompt = read_prompt(request.prompt);
  run::LoadedRun run = run::load_run(request.run, request.load);
  run.model.pack_weights();
  const data::TokenizerPtr tokenizer = text_tokenizer_of(run);
  const std::vector<int32_t> ids = tokens_of_prompt(*tokenizer, prompt);
  for (const int32_t id : ids)
    require<IoError>(id >= 0 && id < run.model.config().vocab_size, kWhere, request.run,
                     ": expected ids of the prompt below ", run.model.config().vocab_size, ", got ",
                     id, "; the tokenizer is of another model");
  say_run(request, run);
  if (prompt.empty())
    cli::remarks() << "no prompt: the text begins behind the token that ends documents\n";
  try {
    Call(request, run, *tokenizer, out).go(ids, prompt);
  } catch (const posenc::PositionError& error) {
    if (request.cache_window > 0) throw;
    throw ConfigError(concat(error.what(),
                             "; fewer --tokens, or --cache-window W, which reads the "
                             "last W tokens afresh for each new one"));
  }
  return cli::kDone;
}

}  // namespace farfield::generation
