# oneDNN, version 2 or 3: gives the target OneDNN::OneDNN.
#
# Not through the CMake package that oneDNN installs: Debian's demands the OpenCL development files,
# which libdnnl-dev does not depend on, and stops the whole configuration where they are missing.
find_path(OneDNN_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(OneDNN_LIBRARY dnnl)
if(OneDNN_INCLUDE_DIR AND EXISTS "${OneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h")
  file(STRINGS "${OneDNN_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h" OneDNN_lines
    REGEX "^#define DNNL_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" OneDNN_VERSION "${OneDNN_lines}")
  string(REPLACE ";" "." OneDNN_VERSION "${OneDNN_VERSION}")
  unset(OneDNN_lines)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDNN
  REQUIRED_VARS OneDNN_LIBRARY OneDNN_INCLUDE_DIR
  VERSION_VAR OneDNN_VERSION
  REASON_FAILURE_MESSAGE "install libdnnl-dev")
mark_as_advanced(OneDNN_INCLUDE_DIR OneDNN_LIBRARY)

if(OneDNN_FOUND AND NOT TARGET OneDNN::OneDNN)
  add_library(OneDNN::OneDNN UNKNOWN IMPORTED)
  set_target_properties(OneDNN::OneDNN PROPERTIES
    IMPORTED_LOCATION "${OneDNN_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${OneDNN_INCLUDE_DIR}")
endif()
