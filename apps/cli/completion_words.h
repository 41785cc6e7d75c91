#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/cli/own_output.h"

namespace farfield::cli {

/// A word that a program or a command takes: an option, or a command of its own.
struct CompletionWord {
  std::string word;         ///< "--lr", "list"
  std::string placeholder;  ///< of an option's value, "X", "fp32|bf16"; empty: a flag, a command
  std::string help;
  bool is_option() const { return word.starts_with("-"); }
};

/// What stands behind a program's name, "" for nothing or "tokenizer train", and what it takes.
struct CompletionTable {
  std::string command;
  std::vector<CompletionWord> words;
};

/// `--completion words` behind a program or a command: it prints its own words. Options::parse()
/// and run_command() answer it.
bool asks_for_words(int argc, const char* const* argv);
void print_words(const std::vector<CompletionWord>& words, std::ostream& out);

/// The tables of a whole program, which is asked for its words and, one after the other, for those
/// of its commands; what it prints to std::cout meanwhile is taken.
std::vector<CompletionTable> completion_tables(const std::string& program, const Program& fn);

}  // namespace farfield::cli
