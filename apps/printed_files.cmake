# Installs what one program prints of itself: its completions for bash and zsh, and its manual page.
# Included by cmake_install.cmake, after `set(program NAME)`, `set(file PATH)`, `set(data FOLDER)`
# and `set(man FOLDER)`. A program that cannot run here (one for another machine) has none.

# install_printed(PLACE WORD...): what the program prints when it is called with these words
function(install_printed place)
  set(place "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${place}")
  cmake_path(GET place PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND "${file}" ${ARGN} OUTPUT_FILE "${place}" RESULT_VARIABLE status ERROR_QUIET)
  if(status EQUAL 0)
    message(STATUS "Installing: ${place}")
  else()
    file(REMOVE "${place}")
  endif()
endfunction()

install_printed("${data}/bash-completion/completions/${program}" --completion bash)
install_printed("${data}/zsh/site-functions/_${program}" --completion zsh)
install_printed("${man}/man1/${program}.1" --man)
