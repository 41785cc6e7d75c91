# xxHash: gives the target XxHash::XxHash. The library, not the header alone: it picks the vector
# instructions of the machine that it runs on.
find_path(XxHash_INCLUDE_DIR xxhash.h)
find_library(XxHash_LIBRARY xxhash)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XxHash REQUIRED_VARS XxHash_LIBRARY XxHash_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libxxhash-dev")
mark_as_advanced(XxHash_INCLUDE_DIR XxHash_LIBRARY)

if(XxHash_FOUND AND NOT TARGET XxHash::XxHash)
  add_library(XxHash::XxHash UNKNOWN IMPORTED)
  set_target_properties(XxHash::XxHash PROPERTIES
    IMPORTED_LOCATION "${XxHash_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${XxHash_INCLUDE_DIR}")
endif()
