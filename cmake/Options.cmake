# Compiler settings of the project's own code, as one interface target: ductile_options.

option(DUCTILE_NATIVE "Tune for this machine (-march=native); OFF for programs that go to other machines" ON)
# Compilers that bring their own SYCL change their warnings with every release.
if(DUCTILE_BACKEND MATCHES "^(host|dpcpp-jit)$")
  set(own_compiler ON)
else()
  set(own_compiler OFF)
endif()
option(DUCTILE_WERROR "Warnings are errors" ${own_compiler})
set(DUCTILE_SANITIZE "" CACHE STRING "Sanitizers to build with: empty, address,undefined or thread")

add_library(ductile_options INTERFACE)
target_compile_features(ductile_options INTERFACE cxx_std_20)
target_compile_options(ductile_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow $<$<BOOL:${DUCTILE_WERROR}>:-Werror>
  -fno-math-errno       # sqrt and friends become instructions
  -fno-trapping-math    # lets selects of two computed values vectorise
  -ffp-contract=fast)   # multiply-adds
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ductile_options INTERFACE -Wno-psabi)  # 32-byte vectors passed by value, all in one program
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False alarms inside the compiler's own AVX-512 headers (GCC bug 105593).
    target_compile_options(ductile_options INTERFACE -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Conditions joined by & have no branch between them: loops over particles become vector instructions.
  target_compile_options(ductile_options INTERFACE -Wno-bitwise-instead-of-logical -Wno-unknown-warning-option)
endif()
if(DUCTILE_NATIVE)
  target_compile_options(ductile_options INTERFACE -march=native)
endif()
if(DUCTILE_SANITIZE)
  target_compile_definitions(ductile_options INTERFACE HOSTSYCL_NO_FLATTEN)
  target_compile_options(ductile_options INTERFACE -fsanitize=${DUCTILE_SANITIZE} -fno-omit-frame-pointer
                                                   -fno-sanitize-recover=all)
  target_link_options(ductile_options INTERFACE -fsanitize=${DUCTILE_SANITIZE})
endif()

find_program(DUCTILE_CCACHE ccache)
mark_as_advanced(DUCTILE_CCACHE)
if(DUCTILE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${DUCTILE_CCACHE}")
endif()
