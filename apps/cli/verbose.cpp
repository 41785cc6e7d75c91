#include "apps/cli/verbose.h"

namespace farfield::cli {
namespace {

bool verbose_is_set = false;  // as long as the process, like the streams it prints to

}  // namespace

void set_verbose(bool is_verbose) { verbose_is_set = is_verbose; }

bool is_verbose() { return verbose_is_set; }

std::string hash_remark(const std::string& hash) { return verbose_is_set ? ", hash " + hash : ""; }

}  // namespace farfield::cli
