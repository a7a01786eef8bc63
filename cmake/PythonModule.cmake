# The Python package `ductile` in build/NAME/python, where pybind11 and the headers of Python are found: those of .venv,
# which `tools/setup --python` makes, or of -DPython_EXECUTABLE=.

if(NOT DEFINED Python_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python")
endif()
find_package(Python 3.9 COMPONENTS Interpreter Development.Module QUIET)
if(Python_FOUND)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m pybind11 --cmakedir OUTPUT_VARIABLE pybind11_folder
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(pybind11 2.12 CONFIG QUIET PATHS "${pybind11_folder}" NO_DEFAULT_PATH)
endif()
# A sanitizer's runtime has to be loaded before Python itself.
if(NOT pybind11_FOUND OR DUCTILE_SANITIZE)
  message(STATUS "Python module: no (needs pybind11: tools/setup --python)")
  return()
endif()
message(STATUS "Python module: yes, for ${Python_EXECUTABLE}")

set(package "${PROJECT_BINARY_DIR}/python/ductile")
pybind11_add_module(ductile_python MODULE NO_EXTRAS "${PROJECT_SOURCE_DIR}/python/module.cpp")
target_link_libraries(ductile_python PRIVATE ductile_api)
target_link_options(ductile_python PRIVATE LINKER:--as-needed)
set_target_properties(ductile_python PROPERTIES OUTPUT_NAME _ductile LIBRARY_OUTPUT_DIRECTORY "${package}"
                                                BUILD_RPATH "$ORIGIN/lib" INSTALL_RPATH "$ORIGIN/lib")
configure_file("${PROJECT_SOURCE_DIR}/python/ductile/__init__.py" "${package}/__init__.py" COPYONLY)
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/scenes" "${package}/scenes" SYMBOLIC)
