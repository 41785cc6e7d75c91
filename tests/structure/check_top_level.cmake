# cmake -D ROOT=<source tree> -P check_top_level.cmake
# The top level of the repository holds only the names below: a file that a tool leaves there is
# soon committed by accident.
cmake_minimum_required(VERSION 3.25)
set(expected CMakeLists.txt CMakePresets.json CONTRIBUTING.md LICENSE README.md check demo
  .ci .clang-format .gitignore apps data engine layers posenc tests third_party)

find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C "${ROOT}" ls-files OUTPUT_VARIABLE found ERROR_QUIET)
endif()
if(NOT found)
  message("skipped: no git here that lists files of ${ROOT}")
  return()
endif()
string(STRIP "${found}" found)
string(REPLACE "\n" ";" found "${found}")
list(TRANSFORM found REPLACE "/.*" "")
list(REMOVE_DUPLICATES found)
list(REMOVE_ITEM found ${expected})
if(found)
  list(JOIN found ", " found)
  message(FATAL_ERROR "expected nothing new at the top level, got ${found}")
endif()
message("the top level holds what it should")
