#include "apps/cli/verbose.h"

namespace farfield::cli {
namespace {

bool has_everything = false;  // as long as the process, like the streams it prints to

}  // namespace

void set_verbose(bool is_verbose) { has_everything = is_verbose; }

bool is_verbose() { return has_everything; }

std::string hash_remark(const std::string& hash) { return has_everything ? ", hash " + hash : ""; }

}  // namespace farfield::cli
