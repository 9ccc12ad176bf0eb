# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The rules of `cmake --install`: libraries, find_package(pawl), pawl.pc, the command, its manual,
# completions, documentation and examples.
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/pawl)
# The headers of Boost for the async API, on a machine that has no Boost of this version.
set(boost_destination ${CMAKE_INSTALL_INCLUDEDIR}/pawl-boost)

# The libraries with their CMake and pkg-config files, as the install component static or shared.
# BUILD_SHARED_LIBS selects the default; `cmake --install … --component` installs the other kind.
function(pawl_install_libraries component)
    set(unasked "")
    if((BUILD_SHARED_LIBS AND component STREQUAL "static") OR
            (NOT BUILD_SHARED_LIBS AND component STREQUAL "shared"))
        set(unasked EXCLUDE_FROM_ALL)
    endif()
    install(TARGETS ${ARGN} EXPORT pawl-${component}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} ${unasked}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} ${unasked})
    install(EXPORT pawl-${component} NAMESPACE pawl:: FILE pawl-targets.cmake
        DESTINATION ${config_folder}/${component} COMPONENT ${component} ${unasked})
    install(FILES ${PROJECT_BINARY_DIR}/generated/${component}/pawl.pc
        ${PROJECT_BINARY_DIR}/generated/${component}/pawl-asio.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component} ${unasked})
endfunction()

get_property(static_libraries GLOBAL PROPERTY pawl_asio_libraries)
get_property(sync_libraries GLOBAL PROPERTY pawl_sync_libraries)
pawl_install_libraries(static ${static_libraries} ${sync_libraries})
pawl_install_libraries(shared ${pawl_shared_libraries})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pawl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT package FILES_MATCHING PATTERN "*.hpp")
# The packages of the backends in this build, as NAME:PACKAGE.
set(pawl_backend_packages "")
foreach(name IN LISTS pawl_backends)
    foreach(package IN LISTS pawl_backend_${name}_PACKAGE)
        list(APPEND pawl_backend_packages ${name}:${package})
    endforeach()
endforeach()
list(JOIN pawl_known_backends ", " pawl_listed_backends)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pawl-config.cmake.in
    ${PROJECT_BINARY_DIR}/generated/pawl-config.cmake
    INSTALL_DESTINATION ${config_folder} PATH_VARS boost_destination)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/pawl-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/generated/pawl-config.cmake
    ${PROJECT_BINARY_DIR}/generated/pawl-config-version.cmake
    ${CMAKE_CURRENT_LIST_DIR}/pawl_find_boost.cmake
    ${CMAKE_CURRENT_LIST_DIR}/FindMariaDB.cmake
    ${CMAKE_CURRENT_LIST_DIR}/FindNghttp2.cmake
    DESTINATION ${config_folder} COMPONENT package)

install(CODE "
    include(\"${CMAKE_CURRENT_LIST_DIR}/pawl_install_boost.cmake\")
    pawl_install_boost(\"${pawl_boost_folder}\" \"${boost_destination}\")"
    COMPONENT boost EXCLUDE_FROM_ALL)

# Programs that link a static library also link its dependencies; a shared library has its own.
pawl_backends_values(pc_requires PKG_CONFIG)
list(JOIN pc_requires " " pc_requires)
# Relative, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})

# NAME is also the name of the first library. The others follow in link order, the core last.
function(pawl_write_pc name description)
    set(pc_name ${name})
    string(REPLACE - _ library ${name})
    set(pc_description "${description}")
    set(pc_boost "")
    set(pc_libraries -l${library})
    if(name STREQUAL "pawl-asio")
        set(pc_boost " -isystem \${prefix}/${boost_destination}")
        string(APPEND pc_libraries " -lpawl_asio_link")
    endif()
    set(pc_private "Requires.private: ${pc_requires}")
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/pawl.pc.in
        ${PROJECT_BINARY_DIR}/generated/shared/${name}.pc @ONLY)
    set(pc_libraries -l${library})
    foreach(part IN LISTS pawl_backends pawl_parts ITEMS guard core)
        string(APPEND pc_libraries " -l${library}_${part}")
    endforeach()
    set(pc_private "Requires: ${pc_requires}")
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/pawl.pc.in
        ${PROJECT_BINARY_DIR}/generated/static/${name}.pc @ONLY)
endfunction()
pawl_write_pc(pawl "${PROJECT_DESCRIPTION}: the sync API")
pawl_write_pc(pawl-asio
    "${PROJECT_DESCRIPTION}: sync and async API over Boost ${pawl_boost_version}")

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT package)
# Pages link to each other and to examples, so the folders stay as they are in the source tree.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
    ${PROJECT_SOURCE_DIR}/SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT package)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/results
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench COMPONENT package)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
    COMPONENT package FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
file(RELATIVE_PATH docs_to_headers ${CMAKE_INSTALL_FULL_DOCDIR}/docs/guide
    ${CMAKE_INSTALL_FULL_INCLUDEDIR})
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_DOCDIR absolute_docs)
set(installed_docs "\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/docs")
if(absolute_docs)
    set(installed_docs "${CMAKE_INSTALL_DOCDIR}/docs")
endif()
install(CODE "
    include(\"${CMAKE_CURRENT_LIST_DIR}/pawl_mend_links.cmake\")
    file(GLOB pages \"\$ENV{DESTDIR}${installed_docs}/*/*.md\")
    foreach(page IN LISTS pages)
        pawl_mend_links(\"\${page}\" \"${docs_to_headers}\")
    endforeach()" COMPONENT package)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
    COMPONENT package FILES_MATCHING PATTERN "*.cpp" PATTERN "*.hpp" PATTERN "*.md"
    PATTERN "[0-9]*.cmake")
install(FILES ${PROJECT_SOURCE_DIR}/examples/installed.cmake RENAME CMakeLists.txt
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT package)

if(TARGET pawl_command)
    install(TARGETS pawl_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
    set(made ${PROJECT_BINARY_DIR}/generated/cli)
    install(FILES ${made}/pawl.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
    install(FILES ${made}/pawl.bash RENAME pawl COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${made}/_pawl COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${made}/pawl.fish COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
