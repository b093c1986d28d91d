# How every target of ours is compiled: standard, warnings, cache, linker, sanitizers.
# SPDX-License-Identifier: Apache-2.0

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
add_compile_options(-fPIC) # the Python module links the libraries; one flag for all shares the PCH
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Worktrees share cached objects: paths are hashed relative to the source folder, and the build
# folder's own name is not hashed. The sloppiness is what ccache needs to see through a PCH.
find_program(ORRERY_CCACHE ccache)
if(ORRERY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${ORRERY_CCACHE})
endif()

# mold needs g++ 12.1 or clang; lld is the second choice, the default linker the last.
find_program(ORRERY_MOLD mold)
find_program(ORRERY_LLD NAMES ld.lld ld.lld-19)
if(ORRERY_MOLD AND NOT ORRERY_FUZZ)
  add_link_options(-fuse-ld=mold)
elseif(ORRERY_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# What a target of ours links for its flags; system headers are exempt from the warnings.
add_library(orrery_flags INTERFACE)
target_compile_options(orrery_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Werror
  -ffp-contract=off # the same double on every host: predictions are compared byte for byte
)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 at -O2 reports these inside std::string and std::variant, where they are not true.
  target_compile_options(orrery_flags INTERFACE
    -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of libstdc++ 12 calls what libstdc++ 12 calls deprecated.
  target_compile_options(orrery_flags INTERFACE -Wno-deprecated-declarations)
endif()

# Sanitizers watch the modules. Test files are compiled without UBSan and without optimisation:
# it is our code that must be right, and gtest under UBSan takes three times as long to compile.
add_library(orrery_sanitize INTERFACE)
add_library(orrery_sanitize_tests INTERFACE)
if(ORRERY_SANITIZE)
  set(flags -fsanitize=${ORRERY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(orrery_sanitize INTERFACE ${flags})
  target_link_options(orrery_sanitize INTERFACE -fsanitize=${ORRERY_SANITIZE})
  target_compile_options(orrery_sanitize_tests INTERFACE ${flags} -fno-sanitize=undefined -O0)
  target_link_options(orrery_sanitize_tests INTERFACE -fsanitize=${ORRERY_SANITIZE})
endif()
