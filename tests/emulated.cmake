# Tests of a cross build, which QEMU runs (third_party/aarch64.cmake). CTest starts the programs of
# add_test() by it. A script starts programs by their paths, which the system refuses; so scripts are
# disabled, which CTest says aloud, and the programs make one short run here instead. The scripts that
# start none read the source tree alone, and say the same in a build for this machine.
get_property(names DIRECTORY PROPERTY TESTS)
get_property(suites GLOBAL PROPERTY FARFIELD_SUITES)
list(REMOVE_ITEM names ${suites})
set_tests_properties(${names} PROPERTIES DISABLED TRUE)

if(FARFIELD_TESTS)  # the programs have no label
  return()
endif()
set(run "${CMAKE_CURRENT_BINARY_DIR}/emulated")
add_test(NAME emulated_begin COMMAND ${CMAKE_COMMAND} -E rm -rf "${run}")
add_test(NAME emulated_prepare COMMAND prepare --input "${PROJECT_SOURCE_DIR}/LICENSE"
  --output "${run}/corpus")
add_test(NAME emulated_train COMMAND train --preset smoke --steps 3 --train-len 32 --posenc alibi
  --data "${run}/corpus" --out "${run}/run")
add_test(NAME emulated_eval COMMAND eval "${run}/run" --lengths 32,64 --segments 4)
add_test(NAME emulated_generate COMMAND generate "${run}/run" --prompt "The " --tokens 8)
add_test(NAME emulated_model COMMAND model show "${run}/run")
add_test(NAME emulated_inspect COMMAND inspect encoding alibi)
add_test(NAME emulated_bench COMMAND bench --version)
add_test(NAME emulated_sweep COMMAND sweep --version)
add_test(NAME emulated_demo COMMAND demo --help)
set(before "")
foreach(name IN ITEMS begin prepare train eval generate model inspect bench sweep demo)
  set_tests_properties(emulated_${name} PROPERTIES LABELS apps TIMEOUT 600 DEPENDS "${before}"
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  set(before emulated_${name})
endforeach()
