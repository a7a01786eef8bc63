# The finite-element reference of `ductile validate`: a library for the tests and a program for the studies.

file(GLOB fem_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/validation/fem/*.cpp")
set(fem_main "${PROJECT_SOURCE_DIR}/validation/fem/main.cpp")
list(REMOVE_ITEM fem_sources "${fem_main}")

find_package(OpenMP REQUIRED COMPONENTS CXX)  # its own loops, on every back end
add_library(ductile_fem_core STATIC ${fem_sources})
target_link_libraries(ductile_fem_core PUBLIC ductile_core PRIVATE OpenMP::OpenMP_CXX)
ductile_add_sycl(ductile_fem_core)

add_executable(ductile_fem "${fem_main}")
target_link_libraries(ductile_fem PRIVATE ductile_fem_core CLI11::CLI11)
ductile_add_sycl(ductile_fem)
