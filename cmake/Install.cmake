# `cmake --install build/NAME --prefix DIR`: a tree that may be moved. Programs that link the library find it by
# find_package(Ductile), with DIR in CMAKE_PREFIX_PATH.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS ductile RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS ductile_library EXPORT DuctileTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/ductile" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/scenes" DESTINATION "${CMAKE_INSTALL_DATADIR}/ductile")
# As in the source tree, so that the links between the documents hold.
install(FILES "${PROJECT_SOURCE_DIR}/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/validation/paper1/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}/validation/paper1")

set(config "${CMAKE_INSTALL_LIBDIR}/cmake/Ductile")
install(EXPORT DuctileTargets NAMESPACE Ductile:: DESTINATION "${config}")
file(WRITE "${PROJECT_BINARY_DIR}/DuctileConfig.cmake"
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/DuctileTargets.cmake\")\n")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/DuctileConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/DuctileConfig.cmake" "${PROJECT_BINARY_DIR}/DuctileConfigVersion.cmake"
        DESTINATION "${config}")
