# How Pawl's own targets are made. Sources are found by folder: a new file needs no line here.

# Flags of our own targets, never of those who use the library.
function(pawl_own target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
    if(PAWL_WARNINGS_AS_ERRORS)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        # False alarms of GCC 12: in std::string's operator+ (GCC bug 105651), and for members left
        # out of designated initializers on purpose.
        target_compile_options(${target} PRIVATE -Wno-restrict -Wno-missing-field-initializers)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND PAWL_SANITIZE)
        # What the sanitizers add confuses GCC's analysis of the flow.
        target_compile_options(${target} PRIVATE
            -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds
            -Wno-mismatched-new-delete)
    endif()
    target_include_directories(${target} PRIVATE
        ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
endfunction()

# The .cpp files of a folder; a file without content where there are none yet.
function(pawl_sources result folder)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    if(NOT sources)
        set(sources ${PROJECT_BINARY_DIR}/generated/nothing.cpp)
        if(NOT EXISTS ${sources})
            file(WRITE ${sources} "")
        endif()
    endif()
    set(${result} ${sources} PARENT_SCOPE)
endfunction()

# A library from src/FOLDER. pawl_redis is seen by its users as pawl::redis, pawl as pawl::pawl.
function(pawl_add_library target folder)
    pawl_sources(sources ${PROJECT_SOURCE_DIR}/src/${folder})
    add_library(${target} ${sources})
    string(REGEX REPLACE "^pawl_" "" public ${target})
    add_library(pawl::${public} ALIAS ${target})
    set_target_properties(${target} PROPERTIES
        EXPORT_NAME ${public} POSITION_INDEPENDENT_CODE ON
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    pawl_own(${target})
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    set_property(GLOBAL APPEND PROPERTY pawl_libraries ${target})
endfunction()

# An executable of ours, and what it links.
function(pawl_add_executable target)
    cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
    add_executable(${target} ${arg_SOURCES})
    pawl_own(${target})
    target_link_libraries(${target} PRIVATE ${arg_LINK})
endfunction()
