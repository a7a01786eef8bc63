# libductile: what include/ductile declares, as a shared library whose users need no headers but these.

add_library(ductile_api OBJECT "${PROJECT_SOURCE_DIR}/src/api/simulation.cpp")
target_link_libraries(ductile_api PUBLIC ductile_core)
ductile_add_sycl(ductile_api)

add_library(ductile_library SHARED)
target_link_libraries(ductile_library PRIVATE ductile_api)
target_include_directories(ductile_library INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                                                     "$<INSTALL_INTERFACE:include>")
target_compile_features(ductile_library INTERFACE cxx_std_20)
# The library of files behind the command line is not part of it, and so neither is VTK.
target_link_options(ductile_library PRIVATE LINKER:--as-needed)
set_target_properties(ductile_library PROPERTIES OUTPUT_NAME ductile EXPORT_NAME ductile VERSION ${PROJECT_VERSION}
                                                 SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
