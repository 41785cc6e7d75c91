# Writes OUTPUT, a header with the commit of SOURCE, when it differs from what is there. It ends with
# -dirty where something tracked was changed, and where a source is there that is not tracked:
# CMake finds new files of some folders by itself, whatever .gitignore says of them.
execute_process(
  COMMAND git describe --always --dirty --abbrev=12 --exclude=*
  WORKING_DIRECTORY "${SOURCE}"
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
elseif(NOT commit MATCHES "-dirty$")
  foreach(folder IN ITEMS apps data engine layers posenc third_party)
    foreach(ending IN ITEMS .cpp .h .cu .cuh .in .csv .py .cmake CMakeLists.txt)
      list(APPEND sources "${folder}/*${ending}")
    endforeach()
  endforeach()
  execute_process(
    COMMAND git ls-files --others -- ${sources}
    WORKING_DIRECTORY "${SOURCE}"
    OUTPUT_VARIABLE untracked ERROR_QUIET)
  if(untracked)
    string(APPEND commit "-dirty")
  endif()
endif()
execute_process(
  COMMAND git show --no-patch --format=%cs
  WORKING_DIRECTORY "${SOURCE}"
  OUTPUT_VARIABLE day OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text "#pragma once\nnamespace farfield::cli {\n")
string(APPEND text "inline constexpr char kCommit[] = \"${commit}\";\n")
string(APPEND text "inline constexpr char kCommitDay[] = \"${day}\";\n}\n")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
