# Installs the completions of one program for bash and zsh, which it prints itself. Included by
# cmake_install.cmake, after `set(program NAME)`, `set(file PATH)` and `set(data FOLDER)`. A program
# that cannot run here (one for another machine) has none.
foreach(shell IN ITEMS bash zsh)
  if(shell STREQUAL "bash")
    set(place "bash-completion/completions/${program}")
  else()
    set(place "zsh/site-functions/_${program}")
  endif()
  set(place "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${data}/${place}")
  cmake_path(GET place PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND "${file}" --completion ${shell}
    OUTPUT_FILE "${place}" RESULT_VARIABLE status ERROR_QUIET)
  if(status EQUAL 0)
    message(STATUS "Installing: ${place}")
  else()
    file(REMOVE "${place}")
  endif()
endforeach()
