# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Functions that define Pawl's targets. They find sources by folder: a new file needs no line here.

set(PAWL_BOOST_SYMBOLS ${CMAKE_CURRENT_LIST_DIR}/boost_symbols.sh)

# The flags of Pawl's own targets. Programs that use the library do not get them.
function(pawl_own target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    # Asio is compiled once, in pawl_core: other files need only its declarations.
    target_compile_definitions(${target} PRIVATE
        BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion)
    if(CMAKE_UNITY_BUILD)
        # Several files are compiled as one: a local name may hide another file's, and what stands
        # in an anonymous namespace looks as if it stood in a header.
        target_compile_options(${target} PRIVATE -Wshadow=local -Wno-subobject-linkage)
    else()
        target_compile_options(${target} PRIVATE -Wshadow)
    endif()
    if(PAWL_WARNINGS_AS_ERRORS)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        # False alarms of GCC 12: in std::string's operator+ (GCC bug 105651), for members left
        # out of designated initializers on purpose, and where it sees the allocation of a
        # coroutine's frame and not its deallocation.
        target_compile_options(${target} PRIVATE
            -Wno-restrict -Wno-missing-field-initializers -Wno-mismatched-new-delete)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND PAWL_SANITIZE)
        # The code that sanitizers insert confuses GCC's flow analysis.
        target_compile_options(${target} PRIVATE
            -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds
            -Wno-mismatched-new-delete)
    endif()
    target_include_directories(${target} PRIVATE
        ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
endfunction()

# The .cpp files of a folder and of the folders below it; an empty file if there are none.
function(pawl_sources result folder)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    if(NOT sources)
        set(sources ${PROJECT_BINARY_DIR}/generated/nothing.cpp)
        if(NOT EXISTS ${sources})
            file(WRITE ${sources} "")
        endif()
    endif()
    set(${result} ${sources} PARENT_SCOPE)
endfunction()

# Pawl's sources are compiled once and packed twice; docs/decisions/018 has the reasons.
#   pawl::asio_NAME, pawl::asio   sync and async API, with the program's own Boost
#   pawl::NAME, pawl::pawl        sync API, with a private Boost
# A program links libraries of one kind only. CMake and the linker reject a mixture.
function(pawl_set_kind target kind)
    set_property(TARGET ${target} APPEND PROPERTY COMPATIBLE_INTERFACE_STRING PAWL_LIBRARY_KIND)
    set_property(TARGET ${target} PROPERTY INTERFACE_PAWL_LIBRARY_KIND ${kind})
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# The static library pawl_NAME from FOLDER: installed as libpawl_asio_NAME.a.
function(pawl_add_library target folder)
    pawl_sources(sources ${PROJECT_SOURCE_DIR}/${folder})
    add_library(${target} STATIC ${sources})
    string(REGEX REPLACE "^pawl" "asio" public ${target})
    if(target STREQUAL "pawl_conformance")
        set(public conformance)
    endif()
    add_library(pawl::${public} ALIAS ${target})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME pawl_${public} EXPORT_NAME ${public} POSITION_INDEPENDENT_CODE ON)
    pawl_own(${target})
    # The second library is made from machine code, not from a compiler's intermediate form.
    set_property(TARGET ${target} PROPERTY INTERPROCEDURAL_OPTIMIZATION OFF)
    if(CMAKE_CXX_FLAGS MATCHES "-flto")
        target_compile_options(${target} PRIVATE -fno-lto)
    endif()
    pawl_set_kind(${target} asio)
    set_property(GLOBAL APPEND PROPERTY pawl_asio_libraries ${target})
endfunction()

# Makes the functions of Boost in the object of SOURCE weak, like inline functions of its headers.
function(pawl_weaken_boost target source)
    file(GLOB_RECURSE sources ${PROJECT_SOURCE_DIR}/src/${source})
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    add_custom_command(TARGET ${target} POST_BUILD COMMAND ${PAWL_BOOST_SYMBOLS} weaken
        ${CMAKE_NM} ${CMAKE_OBJCOPY} ${CMAKE_AR} $<TARGET_FILE:${target}> ${source}.o VERBATIM)
endfunction()

# The sync kind of pawl_NAME: the same archive, with namespace boost renamed.
function(pawl_add_sync_library target)
    cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
    string(REGEX REPLACE "^pawl" "pawl_sync" sync ${target})
    string(REGEX REPLACE "^pawl_" "" public ${target})
    # An empty source, touched after each change of the other archive: this one is made again.
    set(stamp ${PROJECT_BINARY_DIR}/generated/${sync}.cpp)
    add_custom_command(OUTPUT ${stamp} COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
        DEPENDS ${target} VERBATIM)
    add_library(${sync} STATIC ${stamp})
    add_library(pawl::${public} ALIAS ${sync})
    set_target_properties(${sync} PROPERTIES OUTPUT_NAME ${target} EXPORT_NAME ${public})
    add_custom_command(TARGET ${sync} POST_BUILD COMMAND ${PAWL_BOOST_SYMBOLS} rename
        $<TARGET_FILE:${target}> $<TARGET_FILE:${sync}>
        COMMENT "Hiding Boost in lib${target}.a" VERBATIM)
    target_link_libraries(${sync} PUBLIC Threads::Threads ${arg_LINK})
    pawl_set_kind(${sync} sync)
    set_property(GLOBAL APPEND PROPERTY pawl_sync_libraries ${sync})
endfunction()

# All static libraries of one kind as one shared library. MARKER is the type of a symbol that both
# kinds define with different types, so that linkers reject a program with both.
function(pawl_add_shared_library target)
    cmake_parse_arguments(arg "" "NAME;KIND;MARKER" "ARCHIVES;PRIVATE;PUBLIC" ${ARGN})
    set(source ${PROJECT_BINARY_DIR}/generated/${target}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT
        "extern \"C\" { extern ${arg_MARKER} link_either_pawl_or_pawl_asio_but_not_both;\n\
${arg_MARKER} link_either_pawl_or_pawl_asio_but_not_both = 0; }\n")
    add_library(${target} SHARED ${source})
    set(map ${PROJECT_BINARY_DIR}/generated/lib${arg_NAME}.map)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/lib${arg_NAME}.map.in ${map} @ONLY)
    # Files, not targets: programs must not inherit the usage requirements of the archives.
    list(TRANSFORM arg_ARCHIVES REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
    add_dependencies(${target} ${arg_ARCHIVES})
    if(arg_KIND STREQUAL "sync")
        set(patterns ${map})
        set(map ${PROJECT_BINARY_DIR}/generated/lib${arg_NAME}.names.map)
        add_custom_command(OUTPUT ${map}
            COMMAND ${PAWL_BOOST_SYMBOLS} hide ${CMAKE_NM} ${patterns} ${map} ${files}
            DEPENDS ${patterns} ${arg_ARCHIVES} VERBATIM)
        target_sources(${target} PRIVATE ${map})
    endif()
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME ${arg_NAME} VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINK_DEPENDS "${map};${files}")
    # With a sanitizer its functions are undefined here; the program defines them.
    target_link_options(${target} PRIVATE
        -Wl,--version-script=${map} $<$<NOT:$<BOOL:${PAWL_SANITIZE}>>:-Wl,-z,defs>)
    target_link_libraries(${target}
        PRIVATE -Wl,--whole-archive ${files} -Wl,--no-whole-archive ${arg_PRIVATE}
        PUBLIC ${arg_PUBLIC})
    pawl_set_kind(${target} ${arg_KIND})
endfunction()

# An executable of Pawl, with the libraries that it links.
function(pawl_add_executable target)
    cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
    add_executable(${target} ${arg_SOURCES})
    pawl_own(${target})
    target_link_libraries(${target} PRIVATE ${arg_LINK})
endfunction()
