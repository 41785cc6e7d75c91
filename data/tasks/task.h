#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::data {

class Draws;
struct TaskRow;  // row.h

/// One example of a task: a sequence of tokens, and which of them a model has to predict.
struct TaskSample {
  std::vector<int32_t> tokens = {};
  /// The id to predict at each place, from the tokens before that place. Equal to `tokens`, unless
  /// the task asks for something other than the next token (`parity(form=prefix)`).
  std::vector<int32_t> targets = {};
  std::vector<uint8_t> is_answer = {};  ///< 1 where the target is scored; never at place 0
  std::vector<uint8_t> is_output = {};  ///< 1 where the token itself is an answer
  /// For an answer that repeats one token of the input: the place of that token. -1 elsewhere.
  std::vector<int32_t> sources = {};
  /// The metric may be broken down by this place: for passkey the first token of the key, for
  /// recall the key that is asked for. -1: no such place.
  int64_t place = -1;

  /// Appends a token that is its own target.
  void add(int64_t token, bool answer = false);
  /// Appends an answer that repeats the token at a place.
  void add_copy(int64_t source);
};

/// The lengths of a small experiment.
struct LengthSplit {
  std::vector<int64_t> train = {};  ///< a batch takes one of these, all with the same probability
  std::vector<int64_t> test = {};
  int64_t n_test = 0;  ///< test samples of each length
};

struct LengthLimits {
  int64_t least = 1, most = 1'000'000;
  bool is_even = false;  ///< only even lengths
};

/// A synthetic task for length generalisation. Immutable, and safe to share between threads.
class Task {
 public:
  virtual ~Task() = default;

  /// "parity(form=plain, zeros=all)": all options that the task uses, in the order of its row.
  /// make_task() reads it back.
  const std::string& canonical() const { return canonical_; }
  /// The text of each id: symbols, then SEP, PAD and EOS where the task uses them.
  virtual std::vector<std::string> vocabulary() const = 0;
  virtual LengthSplit lengths() const = 0;

  /// Tokens of every sample of a length. `length` is the task's own measure of size: bits of
  /// parity, pairs of recall, all tokens of passkey.
  /// Throws    ConfigError [task] bad_argument for a length that the task does not have
  int64_t tokens_of(int64_t length) const;

  /// A pure function of its arguments. `split` is "train" or "test": the two have independent
  /// random numbers. Options change what is drawn, and not the random numbers: all forms of parity
  /// have the same bits.
  /// Throws    as tokens_of(); the same for another split and for a negative index
  TaskSample sample(uint64_t seed, std::string_view split, int64_t length, int64_t index) const;

  /// The id of the token that ends the output (EOS), one of the answers then; -1: there is none.
  virtual int32_t end() const { return -1; }

  /// The distances from the token before an answer to the tokens that the answer follows from, if
  /// they are the same for every answer; otherwise empty. A mask that leaves only these removes all
  /// distractors.
  virtual std::vector<int64_t> needed_distances([[maybe_unused]] int64_t length) const {
    return {};
  }

 private:
  friend std::unique_ptr<const Task> make_task(const std::string& text);

  virtual LengthLimits limits() const { return {}; }
  virtual int64_t n_tokens(int64_t length) const = 0;
  virtual void draw(int64_t length, bool is_training, Draws& draws, TaskSample& to) const = 0;

  std::string name_, canonical_;
};

/// A task by its name, with options in parentheses: "copy(alphabet=8, eos=token)".
/// Throws    ConfigError [task] bad_argument, with the nearest name or option
std::unique_ptr<const Task> make_task(const std::string& text);

/// All tasks, in the order of the list.
const std::vector<TaskRow>& tasks();

/// The list of tasks with their options, for a terminal, and as the tables in data/README.md.
std::string tasks_text();
std::string tasks_markdown();

}  // namespace farfield::data
