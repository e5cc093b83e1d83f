# SPDX-License-Identifier: MIT
#
# What `cmake --install` lays down beside the programs: the headers, the static libraries, a manual
# page and examples, and the files by which find_package(spillway) and pkg-config find them. All of
# them name each other by relative paths, so that the whole may be moved.
include(CMakePackageConfigHelpers)

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/spillway)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY include/spillway DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.h)
install(TARGETS spillway_base spillway_d1 spillway_table spillway_sinks spillway_logger
        EXPORT spillwayTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT spillwayTargets NAMESPACE spillway:: DESTINATION ${cmake_dir})

if(SPILLWAY_BUILD_CLI)
  install(FILES dist/spillway-retention.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)
  install(FILES dist/retention.toml dist/spillway-retention.cron dist/spillway-retention.service
                dist/spillway-retention.timer
          DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
endif()

configure_file(cmake/spillwayConfig.cmake.in spillwayConfig.cmake @ONLY)
# Before 1.0 a new minor version may break what was.
write_basic_package_version_file(spillwayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/spillwayConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/spillwayConfigVersion.cmake
        DESTINATION ${cmake_dir})

file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
file(RELATIVE_PATH libdir_from_prefix ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH includedir_from_prefix ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(SPILLWAY_LINK_FLAGS " -Wl,-z,nodelete") # As sinks/CMakeLists.txt says.
endif()
foreach(package spillway spillway-sinks)
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION ${pkgconfig_dir})
endforeach()
