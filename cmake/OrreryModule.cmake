# orrery_module(): one folder of src/orrery as library, tests, micro-benchmarks and fuzzers.
# SPDX-License-Identifier: Apache-2.0
#
#   orrery_module(machine DEPENDS base LIBRARIES tomlplusplus)
#
# Everything is found by name, in the folder and below it:
#   *.cpp              library orrery_machine, alias orrery::machine
#   *_test.cpp         machine_test, with the ctest label null
#   *_cuda_test.cpp    machine_cuda_test, with the ctest label cuda; so for _multi_gpu and _slow
#   *_bench.cpp        machine_bench, with ORRERY_BENCHMARKS
#   NAME_fuzz.cpp      NAME_fuzz, with ORRERY_FUZZ
#   main.cpp           an executable: orrery for the module cli, else orrery_machine_main
#
# DEPENDS names modules (what they link is inherited). LIBRARIES names third-party libraries of
# OrreryThirdParty.cmake (tomlplusplus, nlohmann_json, CLI11, dl, threads) or CMake targets; only
# this module's own files see them.

function(orrery_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBRARIES" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "orrery_module(${name}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS *.h)
  orrery_take(tests "_test\\.cpp$" sources)
  orrery_take(benches "_bench\\.cpp$" sources)
  orrery_take(fuzzers "_fuzz\\.cpp$" sources)
  orrery_take(mains "/main\\.cpp$" sources)
  orrery_take(private_headers "_internal\\.h$" headers)

  orrery_add_library(${name} "${sources}" "${headers}" "${ARG_DEPENDS}" "${ARG_LIBRARIES}")
  foreach(main IN LISTS mains)
    orrery_add_main(${name} ${main})
  endforeach()
  if(ORRERY_TESTS)
    orrery_add_tests(${name} "${tests}")
  endif()
  if(ORRERY_BENCHMARKS AND benches)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE orrery_${name} benchmark::benchmark_main)
    target_include_directories(${name}_bench PRIVATE ${PROJECT_SOURCE_DIR})
  endif()
  if(ORRERY_FUZZ)
    foreach(fuzzer IN LISTS fuzzers)
      orrery_add_fuzzer(${name} ${fuzzer})
    endforeach()
  endif()
endfunction()

# Moves the items of list `from` that match `pattern` into list `into`.
macro(orrery_take into pattern from)
  set(${into} ${${from}})
  list(FILTER ${into} INCLUDE REGEX "${pattern}")
  list(FILTER ${from} EXCLUDE REGEX "${pattern}")
endmacro()

function(orrery_add_library name sources headers depends libraries)
  if(sources)
    set(scope PUBLIC)
    add_library(orrery_${name} STATIC ${sources})
    orrery_third_party(targets ${libraries})
    target_link_libraries(orrery_${name} PRIVATE ${targets} orrery_sanitize)
    orrery_precompile(${name})
  else()
    set(scope INTERFACE)
    add_library(orrery_${name} INTERFACE)
  endif()
  add_library(orrery::${name} ALIAS orrery_${name})
  target_include_directories(orrery_${name} ${scope} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(orrery_${name} ${scope} orrery_flags fmt::fmt)
  foreach(dependency IN LISTS depends)
    if(NOT TARGET orrery_${dependency})
      message(FATAL_ERROR "orrery_module(${name}): got DEPENDS ${dependency}, need a module that "
                          "src/orrery/CMakeLists.txt lists before ${name} and that exists")
    endif()
    target_link_libraries(orrery_${name} ${scope} orrery_${dependency})
  endforeach()
  # The file set makes `ninja all_verify_interface_header_sets` compile each header alone.
  target_sources(orrery_${name} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src
                 FILES ${headers})
  set_target_properties(orrery_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# One precompiled header for all modules: what nearly every file includes.
function(orrery_precompile name)
  if(NOT ORRERY_PCH)
    return()
  endif()
  if(name STREQUAL "base")
    target_precompile_headers(orrery_base PRIVATE
      <fmt/format.h> <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional>
      <set> <span> <string> <string_view> <utility> <variant> <vector>)
  else()
    target_precompile_headers(orrery_${name} REUSE_FROM orrery_base)
  endif()
endfunction()

function(orrery_add_main name main)
  set(target orrery_${name}_main)
  if(name STREQUAL "cli")
    set(target orrery)
  endif()
  add_executable(${target} ${main})
  target_link_libraries(${target} PRIVATE orrery_${name} orrery_sanitize)
endfunction()

function(orrery_add_tests name tests)
  foreach(need cuda multi_gpu slow)
    orrery_take(needing "_${need}_test\\.cpp$" tests)
    string(REPLACE "_" "-" label ${need})
    orrery_add_test_binary(${name} ${name}_${need}_test ${label} "${needing}")
  endforeach()
  orrery_add_test_binary(${name} ${name}_test null "${tests}")
endfunction()

function(orrery_add_test_binary name target label sources)
  if(NOT sources)
    return()
  endif()
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE orrery_${name} orrery_test_main)
  if(ORRERY_TEST_PCH)
    target_precompile_headers(${target} REUSE_FROM orrery_test_main)
  endif()
  gtest_discover_tests(${target}
    TEST_PREFIX ${name}.
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    PROPERTIES LABELS ${label} TIMEOUT 300
    DISCOVERY_TIMEOUT 60)
endfunction()

function(orrery_add_fuzzer name source)
  get_filename_component(target ${source} NAME_WE)
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE orrery_${name} orrery_sanitize)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${target})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endfunction()
