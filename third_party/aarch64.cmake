# Toolchain file for Linux on arm64, from another Linux: Debian's cross compiler, the libraries of
# arm64_sysroot.sh, and QEMU, which runs what is built (README.md, "arm64").
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
if(NOT DEFINED CMAKE_CXX_COMPILER)
  set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
endif()

set(FARFIELD_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/arm64-sysroot" CACHE PATH
    "The folder that third_party/arm64_sysroot.sh has made")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FARFIELD_SYSROOT)
cmake_path(ABSOLUTE_PATH FARFIELD_SYSROOT NORMALIZE OUTPUT_VARIABLE farfield_sysroot)
if(NOT EXISTS "${farfield_sysroot}/made-of")
  message(FATAL_ERROR "[cmake] expected libraries of arm64 in ${farfield_sysroot}, got none; "
    "third_party/arm64_sysroot.sh puts them there")
endif()
# Libraries, headers and packages are those of arm64 alone; programs those of this machine. The C
# library is the compiler's own, in the second folder.
set(CMAKE_FIND_ROOT_PATH "${farfield_sysroot}" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# -L: where the emulated system's dynamic linker and C library are. The variable tells tests
# (tests/support/emulation.h).
find_program(FARFIELD_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
mark_as_advanced(FARFIELD_QEMU)
if(FARFIELD_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${FARFIELD_QEMU}" -L /usr/aarch64-linux-gnu
    -E FARFIELD_TEST_EMULATED=1)
endif()
