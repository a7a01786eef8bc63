# Chooses the SYCL back end and describes it by one interface target, ductile_sycl.
#
#   host         src/hostsycl, OpenMP, any C++20 compiler
#   dpcpp-jit    host code by this compiler, device code at run time by the DPC++ runtime of the Python wheels
#   dpcpp        a compiler that takes -fsycl (icpx, Intel's clang++)
#   adaptivecpp  find_package(AdaptiveCpp)

set(DUCTILE_SYCL auto CACHE STRING "SYCL back end: auto, host, dpcpp-jit, dpcpp or adaptivecpp")
set_property(CACHE DUCTILE_SYCL PROPERTY STRINGS auto host dpcpp-jit dpcpp adaptivecpp)
set(DUCTILE_DPCPP_ROOT "${PROJECT_SOURCE_DIR}/.venv"
    CACHE PATH "dpcpp-jit: folder whose include/ and lib/ hold the DPC++ runtime")
set(DUCTILE_SYCL_TARGETS "" CACHE STRING "dpcpp: value for -fsycl-targets, for example nvptx64-nvidia-cuda; empty: SPIR-V")

include(CheckCXXSourceCompiles)

# Sets DUCTILE_CXX_HAS_FSYCL when the compiler builds SYCL code by itself.
function(ductile_check_fsycl)
  set(CMAKE_REQUIRED_FLAGS "-fsycl")
  check_cxx_source_compiles("#include <sycl/sycl.hpp>\nint main() { return sycl::range<1>(0).size(); }"
                            DUCTILE_CXX_HAS_FSYCL)
endfunction()

set(DUCTILE_BACKEND ${DUCTILE_SYCL})
if(DUCTILE_BACKEND STREQUAL "auto")
  set(DUCTILE_BACKEND host)
  find_package(AdaptiveCpp CONFIG QUIET)
  if(AdaptiveCpp_FOUND)
    set(DUCTILE_BACKEND adaptivecpp)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang|IntelLLVM")
    ductile_check_fsycl()
    if(DUCTILE_CXX_HAS_FSYCL)
      set(DUCTILE_BACKEND dpcpp)
    endif()
  endif()
endif()

add_library(ductile_sycl INTERFACE)

if(DUCTILE_BACKEND STREQUAL "host")
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  target_compile_definitions(ductile_sycl INTERFACE DUCTILE_BACKEND_HOST)
  target_include_directories(ductile_sycl INTERFACE "${PROJECT_SOURCE_DIR}/src/hostsycl")
  target_link_libraries(ductile_sycl INTERFACE OpenMP::OpenMP_CXX)

elseif(DUCTILE_BACKEND STREQUAL "dpcpp-jit")
  find_path(DUCTILE_DPCPP_INCLUDE sycl/sycl.hpp PATHS "${DUCTILE_DPCPP_ROOT}/include" NO_DEFAULT_PATH)
  find_library(DUCTILE_DPCPP_LIBRARY sycl PATHS "${DUCTILE_DPCPP_ROOT}/lib" NO_DEFAULT_PATH)
  if(NOT DUCTILE_DPCPP_INCLUDE OR NOT DUCTILE_DPCPP_LIBRARY)
    message(FATAL_ERROR "The DPC++ runtime is not in ${DUCTILE_DPCPP_ROOT}. Run `tools/setup --python`, or give the "
                        "environment that holds the wheels of tools/requirements.txt as -DDUCTILE_DPCPP_ROOT=FOLDER.")
  endif()
  target_compile_definitions(ductile_sycl INTERFACE DUCTILE_BACKEND_DPCPP_JIT SYCL_DISABLE_FSYCL_SYCLHPP_WARNING
                                                    DUCTILE_DPCPP_LIB="${DUCTILE_DPCPP_ROOT}/lib")
  target_include_directories(ductile_sycl INTERFACE "${PROJECT_SOURCE_DIR}/src/runtime/jit")
  target_include_directories(ductile_sycl SYSTEM INTERFACE "${DUCTILE_DPCPP_INCLUDE}")
  # The CPU driver needs its own TBB: named here, it is loaded before the older one that VTK brings under the same name.
  # As flags, because CMake warns about what is wanted here: that this folder hides the system's.
  set(lib "${DUCTILE_DPCPP_ROOT}/lib")
  target_link_options(ductile_sycl INTERFACE "LINKER:-rpath,${lib}" "LINKER:-rpath-link,${lib}")
  target_link_libraries(ductile_sycl INTERFACE
    "-L${lib} -lsycl -Wl,--push-state,--no-as-needed -l:libtbb.so.12 -Wl,--pop-state")

elseif(DUCTILE_BACKEND STREQUAL "dpcpp")
  ductile_check_fsycl()
  if(NOT DUCTILE_CXX_HAS_FSYCL)
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} does not build SYCL code with -fsycl. "
                        "Name a DPC++ compiler: -DCMAKE_CXX_COMPILER=icpx (or Intel's clang++).")
  endif()
  set(flags -fsycl)
  if(DUCTILE_SYCL_TARGETS)
    list(APPEND flags "-fsycl-targets=${DUCTILE_SYCL_TARGETS}")
  endif()
  target_compile_definitions(ductile_sycl INTERFACE DUCTILE_BACKEND_DPCPP)
  # icpx defaults to -ffast-math, which breaks NaN tests and the error bounds of the validation suite.
  target_compile_options(ductile_sycl INTERFACE ${flags} -fno-fast-math)
  target_link_options(ductile_sycl INTERFACE ${flags})

elseif(DUCTILE_BACKEND STREQUAL "adaptivecpp")
  find_package(AdaptiveCpp CONFIG REQUIRED)
  target_compile_definitions(ductile_sycl INTERFACE DUCTILE_BACKEND_ADAPTIVECPP)

else()
  message(FATAL_ERROR "DUCTILE_SYCL=${DUCTILE_SYCL} is not a back end: use auto, host, dpcpp-jit, dpcpp or adaptivecpp.")
endif()

message(STATUS "SYCL back end: ${DUCTILE_BACKEND}")

# Whatever has launches in its sources goes through the device compiler.
function(ductile_add_sycl target)
  target_link_libraries(${target} PUBLIC ductile_sycl)
  if(DUCTILE_BACKEND STREQUAL "adaptivecpp")
    get_target_property(sources ${target} SOURCES)
    add_sycl_to_target(TARGET ${target} SOURCES ${sources})
  endif()
endfunction()

# Puts the text of every header below root/folder into the programs that link the target, for the run-time compiler;
# nothing to do where kernels are compiled with the program.
function(ductile_embed_headers target root folder)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/${folder}/*.hpp")
  if(NOT DUCTILE_BACKEND STREQUAL "dpcpp-jit" OR NOT headers)
    return()
  endif()
  string(MAKE_C_IDENTIFIER "${target}_${folder}_headers" name)
  set(script "${PROJECT_SOURCE_DIR}/cmake/EmbedHeaders.cmake")
  set(output "${PROJECT_BINARY_DIR}/generated/${name}.cpp")
  list(TRANSFORM headers PREPEND "${root}/" OUTPUT_VARIABLE dependencies)
  list(JOIN headers "|" joined)
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DROOT=${root}" "-DHEADERS=${joined}" -P "${script}"
    DEPENDS ${dependencies} "${script}"
    COMMENT "Embedding the headers of ${folder}"
    VERBATIM)
  # As objects: nothing in them is called by name, so a linker would leave them in a library.
  add_library(${name} OBJECT "${output}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PRIVATE ductile_options ductile_sycl)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    target_sources(${target} INTERFACE $<TARGET_OBJECTS:${name}>)
  else()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${name}>)
  endif()
endfunction()
