#include "apps/prepare/program.h"

namespace farfield::prepare {

int prepare_program(int argc, const char* const* argv, std::ostream& out) {
  return prepare_corpus(argc, argv, out);
}

}  // namespace farfield::prepare
