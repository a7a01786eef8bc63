# Headers that nearly every file includes, read once for each target instead of once for each file. Left out where
# ccache does better, and for compilers that bring their own SYCL.

function(ductile_precompile target)
  if(DUCTILE_BACKEND MATCHES "^(host|dpcpp-jit)$" AND NOT DUCTILE_SANITIZE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE <sycl/sycl.hpp> <Eigen/Dense> <fmt/format.h> ${ARGN})
  endif()
endfunction()
