#pragma once

#include <ostream>

namespace farfield::prepare {

/// The whole of `prepare`: the command that argv[1] names with what follows, or text to a corpus
/// where it names none. What it has to say goes to `out`, progress, notes and warnings to stderr.
/// Returns the exit code.
int prepare_program(int argc, const char* const* argv, std::ostream& out);

int prepare_convert(int argc, const char* const* argv, std::ostream& out);    // convert.cpp
int prepare_corpus(int argc, const char* const* argv, std::ostream& out);     // corpus.cpp
int prepare_synthetic(int argc, const char* const* argv, std::ostream& out);  // synthetic.cpp
int prepare_task(int argc, const char* const* argv, std::ostream& out);       // task.cpp
int prepare_tokenizer(int argc, const char* const* argv, std::ostream& out);  // tokenizer.cpp

}  // namespace farfield::prepare
