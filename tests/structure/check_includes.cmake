# cmake -D ROOT=<source tree> -P check_includes.cmake
# Calls go down only: each folder includes itself and those below it, a vendor's headers stay in the
# files that wrap it, and a project header is named by its path from the root. JSON is read by one
# reader and written by one writer, so that all programs refuse and replace the same things.

set(libraries "data|layers|posenc|engine")
# The allowed includes of the files of a folder, as a regular expression over the path from the
# root. The first row that fits a file counts. host_device.h is one macro, which random.h needs.
set(rows
  "engine/base/"    "^engine/(base/|host_device\\.h$)"
  "engine/comm/"    "^engine/(comm|base)/"
  "engine/"         "^engine/"
  "posenc/"         "^(posenc|engine)/"
  "layers/"         "^(layers|posenc|engine)/"
  "data/"           "^(data|engine/base)/"
  "apps/analysis/"  "^(apps/analysis|engine/base)/"
  "apps/cli/"       "^(apps/cli|engine)/"
  "apps/plot/"      "^(apps/(plot|cli)|engine/base)/"
  "apps/run/"       "^(apps/(run|cli)|${libraries})/"
  "apps/train/"     "^(apps/(train|run|plot|cli|analysis)|${libraries})/"
  "apps/eval/"      "^(apps/(eval|train|run|plot|cli|analysis)|${libraries})/"
  "apps/compare/"   "^(apps/(compare|eval|run|plot|cli|analysis)|${libraries})/"
  "apps/catalog/"   "^(apps/(catalog|eval|run|cli)|${libraries})/"
  "apps/sweep/"     "^(apps/(sweep|compare|eval|train|run|plot|cli|analysis|inspect)|${libraries})/"
  "apps/generation/" "^(apps/(generation|run|cli)|${libraries})/"
  "apps/inspect/"   "^(apps/(inspect|train|run|plot|cli)|${libraries})/"
  "apps/hub/"       "^(apps/(hub|train|run|cli)|${libraries})/"
  "apps/bench/"     "^(apps/(bench|train|run|cli|analysis)|${libraries})/"
  "apps/prepare/"   "^(apps/(prepare|cli)|${libraries})/"
  "apps/demo/"      "^(apps/(demo|eval|train|run|plot|cli|analysis)|${libraries})/"
  "apps/"           "^(apps|${libraries})/"
  "tests/"          "^(tests|apps|${libraries})/")

# Reserved headers, and the files that may include them: headers below the engine's ops, and headers
# of vendors. Kernels and devices do not include ops.
set(reserved
  "^engine/(kernels[/.]|dispatch\\.h$)"                       "^(engine/(kernels[/.]|cpu/|cuda/|(ops/|distributed/)?[^/]*\\.cpp$)|tests/)"
  "^engine/cpu/"                                             "^(engine/cpu/|tests/)"
  "^engine/cuda/"                                            "^(engine/cuda/|tests/)"
  "^engine/ops[/.]"                                          "^(engine/(ops[/.]|distributed/|[^/]*\\.cpp$)|posenc/|layers/|apps/|tests/)"
  "^(oneapi/|dnnl)"                                          "^engine/cpu/gemm/"
  "^(Eigen/|unsupported/Eigen/)"                             "^(engine/cpu/gemm/|apps/analysis/definiteness\\.cpp$)"
  "^(cuda|cublas|nccl|mma\\.h|cooperative_groups)"           "^engine/cuda/"
  "^mpi\\.h$"                                                 "^engine/comm/mpi_transport\\.cpp$"
  "^boost/(test|mpl)"                                        "^tests/"
  "^boost/math"                                              "^apps/analysis/(student|fisher)\\.cpp$"
  "^boost/context"                                           "^tests/support/cuda/fibers"
  "^boost/program_options"                                   "^apps/cli/"
  "^nlohmann/json\\.hpp"                                     "^(engine/base/json\\.h$|tests/)"
  "^nlohmann/json_fwd"                                       "^apps/(cli/json_number|hub/(class_config|config_reader)|run/(folder|lineage|place))\\.h$"
  "^zstd"                                                    "^(data|tests)/"
  "^zlib\\.h$"                                                "^(data/gzip_reader\\.cpp$|tests/)"
  "^utf8proc\\.h$"                                            "^data/tokenizers/unicode\\.cpp$"
  "^xxhash"                                                  "^engine/base/")

set(bad 0)
set(seen 0)
function(complain file include why)
  message("${file}: includes ${include}: ${why}")
  math(EXPR bad "${bad} + 1")
  set(bad ${bad} PARENT_SCOPE)
endfunction()

function(check_project_include file include)
  if(NOT EXISTS "${ROOT}/${include}")
    if(include STREQUAL "apps/commit.h")  # made by the build
      return()
    endif()
    complain("${file}" "${include}" "expected the path of a header from the source root")
    set(bad ${bad} PARENT_SCOPE)
    return()
  endif()
  if(include STREQUAL "engine/base/json.h" AND NOT file MATCHES "\\.cpp$")
    complain("${file}" "${include}" "it shows a vendor's type, so only .cpp files may")
  endif()
  set(rest ${rows})
  while(rest)
    list(POP_FRONT rest folder allowed)
    string(FIND "${file}" "${folder}" at)
    if(at EQUAL 0)
      if(NOT include MATCHES "${allowed}")
        complain("${file}" "${include}" "files of ${folder} may include ${allowed} only")
      endif()
      break()
    endif()
  endwhile()
  set(bad ${bad} PARENT_SCOPE)
endfunction()

function(check_reserved file include)
  set(rest ${reserved})
  while(rest)
    list(POP_FRONT rest header allowed)
    if(include MATCHES "${header}" AND NOT file MATCHES "${allowed}")
      complain("${file}" "${include}" "only files that match ${allowed} may")
    endif()
  endwhile()
  set(bad ${bad} PARENT_SCOPE)
endfunction()

foreach(folder IN ITEMS engine posenc layers data apps tests)
  file(GLOB_RECURSE files RELATIVE "${ROOT}" "${ROOT}/${folder}/*.h" "${ROOT}/${folder}/*.cpp"
    "${ROOT}/${folder}/*.cu" "${ROOT}/${folder}/*.cuh")
  list(FILTER files EXCLUDE REGEX "^tests/(structure|install)/")
  foreach(file IN LISTS files)
    file(STRINGS "${ROOT}/${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line IN LISTS lines)
      math(EXPR seen "${seen} + 1")
      if(line MATCHES "include[ \t]*\"([^\"]+)\"")
        set(include "${CMAKE_MATCH_1}")
        check_project_include("${file}" "${include}")
        check_reserved("${file}" "${include}")
      elseif(line MATCHES "include[ \t]*<([^>]+)>")
        check_reserved("${file}" "${CMAKE_MATCH_1}")
      endif()
    endforeach()
    if(NOT file MATCHES "^(engine/base/json\\.cpp$|tests/)")
      file(STRINGS "${ROOT}/${file}" lines REGEX "[jJ]son::(sax_)?parse\\(|[jJ]son::accept\\(")
      foreach(line IN LISTS lines)
        message("${file}: '${line}': text becomes JSON in read_json() of engine/base/json.h alone")
        math(EXPR bad "${bad} + 1")
      endforeach()
      file(STRINGS "${ROOT}/${file}" lines REGEX "^[^/]*(\\.|->)dump\\(")
      foreach(line IN LISTS lines)
        message("${file}: '${line}': JSON becomes text in write_json() of engine/base/json.h alone")
        math(EXPR bad "${bad} + 1")
      endforeach()
    endif()
  endforeach()
endforeach()

if(bad)
  message(FATAL_ERROR "${bad} lines break the rules")
elseif(seen EQUAL 0)
  message(FATAL_ERROR "expected source files under ${ROOT}, got none")
endif()
message("${seen} includes follow the rules")
