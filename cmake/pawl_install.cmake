# `cmake --install`: libraries, find_package(pawl), pawl.pc, the command, its manual, completions.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY pawl_libraries)
install(TARGETS ${libraries} EXPORT pawl-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pawl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.hpp")

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/pawl)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pawl-config.cmake.in
    ${PROJECT_BINARY_DIR}/generated/pawl-config.cmake
    INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/pawl-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(EXPORT pawl-targets NAMESPACE pawl:: DESTINATION ${config_folder})
install(FILES
    ${PROJECT_BINARY_DIR}/generated/pawl-config.cmake
    ${PROJECT_BINARY_DIR}/generated/pawl-config-version.cmake
    ${CMAKE_CURRENT_LIST_DIR}/pawl_boost.cmake
    DESTINATION ${config_folder})

# Libs are given in link order: the registry first, the core last.
set(pc_libraries -lpawl)
foreach(backend IN LISTS pawl_backends)
    string(APPEND pc_libraries " -lpawl_${backend}")
endforeach()
string(APPEND pc_libraries " -lpawl_core")
set(pc_needed "")
if(PAWL_WITH_REDIS)
    string(APPEND pc_needed " openssl")
endif()
if(PAWL_WITH_SQLITE)
    string(APPEND pc_needed " sqlite3")
endif()
string(STRIP "${pc_needed}" pc_needed)
# A static library's own needs belong to everybody who links it; a shared one has them inside.
if(BUILD_SHARED_LIBS)
    set(pc_requires "Requires.private: ${pc_needed}")
else()
    set(pc_requires "Requires: ${pc_needed}")
endif()
# Relative, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/pawl.pc.in ${PROJECT_BINARY_DIR}/generated/pawl.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/pawl.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET pawl_command)
    install(TARGETS pawl_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    file(GLOB manuals CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/man/*.1)
    install(FILES ${manuals} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    set(completions ${PROJECT_SOURCE_DIR}/cli/completions)
    install(FILES ${completions}/pawl.bash RENAME pawl OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${completions}/_pawl OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${completions}/pawl.fish OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
