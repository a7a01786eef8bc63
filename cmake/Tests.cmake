# One gtest program from tests/*_test.cpp; tools/test runs it with several thread counts and on several back ends.

find_package(GTest REQUIRED)
file(GLOB test_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*_test.cpp")

add_executable(ductile_tests ${test_sources})
target_compile_definitions(ductile_tests PRIVATE
  DUCTILE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
  DUCTILE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  DUCTILE_EXECUTABLE="${PROJECT_BINARY_DIR}/ductile")
target_link_libraries(ductile_tests PRIVATE ductile_api ductile_fem_core ductile_core CLI11::CLI11 tomlplusplus::tomlplusplus VTK::CommonCore
                                            VTK::CommonDataModel VTK::IOXML GTest::gtest GTest::gtest_main)
ductile_add_sycl(ductile_tests)
ductile_precompile(ductile_tests <gtest/gtest.h> <nlohmann/json.hpp>)
ductile_embed_headers(ductile_tests "${PROJECT_SOURCE_DIR}" tests/kernels)
if(TARGET ductile)
  add_dependencies(ductile_tests ductile ductile_fem)
endif()

foreach(threads 1 2)
  add_test(NAME tests.threads${threads} COMMAND ductile_tests --gtest_brief=1)
  set_tests_properties(tests.threads${threads} PROPERTIES ENVIRONMENT "OMP_NUM_THREADS=${threads}")
endforeach()

if(DUCTILE_BACKEND STREQUAL "host" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT DUCTILE_SANITIZE)
  get_target_property(options ductile_options INTERFACE_COMPILE_OPTIONS)
  add_test(NAME hostsycl.vectorises
    COMMAND "${CMAKE_CXX_COMPILER}" -std=c++20 -O3 ${OpenMP_CXX_FLAGS} ${options} "-I${PROJECT_SOURCE_DIR}/src/hostsycl"
            -fopt-info-vec-optimized -c "${PROJECT_SOURCE_DIR}/tests/hostsycl_triad.cpp" -o /dev/null
    COMMAND_EXPAND_LISTS)
  set_tests_properties(hostsycl.vectorises PROPERTIES
    PASS_REGULAR_EXPRESSION "queue\\.hpp:[0-9]+:[0-9]+: optimized: loop vectorized using (16|32|64) byte vectors")
endif()
