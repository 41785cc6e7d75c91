#pragma once

#include <ostream>

namespace farfield::sweep {

/// The program `sweep`: list, run, search, status, merge, report, and cell, which `run` calls.
int sweep_program(int argc, const char* const* argv, std::ostream& out);

int list_command(int argc, const char* const* argv, std::ostream& out);
int sweep_run_command(int argc, const char* const* argv, std::ostream& out);
int status_command(int argc, const char* const* argv, std::ostream& out);
int search_command(int argc, const char* const* argv, std::ostream& out);
int merge_command(int argc, const char* const* argv, std::ostream& out);
int report_command(int argc, const char* const* argv, std::ostream& out);
int cell_command(int argc, const char* const* argv, std::ostream& out);

}  // namespace farfield::sweep
