# Makes Boost::headers from Boost >= 1.91: the one that CMake knows, else any headers found, else
# those that `./dev` keeps below the project in .deps. Installed too, for pawl-config.cmake.
# Sets pawl_boost_version ("1.92.0"), empty when there is none.

function(pawl_read_boost_version folder result)
    set(${result} "" PARENT_SCOPE)
    if(EXISTS "${folder}/boost/version.hpp")
        file(STRINGS "${folder}/boost/version.hpp" line REGEX "^#define BOOST_VERSION [0-9]+")
        if(line MATCHES "BOOST_VERSION ([0-9]+)")
            math(EXPR major "${CMAKE_MATCH_1} / 100000")
            math(EXPR minor "${CMAKE_MATCH_1} / 100 % 1000")
            math(EXPR patch "${CMAKE_MATCH_1} % 100")
            set(${result} "${major}.${minor}.${patch}" PARENT_SCOPE)
        endif()
    endif()
endfunction()

function(pawl_boost_is_new_enough result folder)
    pawl_read_boost_version("${folder}" version)
    if(version VERSION_LESS 1.91)
        set(${result} FALSE PARENT_SCOPE)
    endif()
endfunction()

if(NOT TARGET Boost::headers)
    find_package(Boost 1.91 CONFIG QUIET)
endif()
if(TARGET Boost::headers)
    get_target_property(folders Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
    foreach(folder IN LISTS folders)
        pawl_read_boost_version("${folder}" pawl_boost_version)
        if(pawl_boost_version)
            break()
        endif()
    endforeach()
else()
    find_path(PAWL_BOOST_INCLUDE_DIR boost/version.hpp
        HINTS ${Boost_INCLUDE_DIR} ${Boost_ROOT}/include $ENV{BOOST_ROOT}/include
        PATHS "${CMAKE_CURRENT_LIST_DIR}/../.deps/boost/usr/include"
        VALIDATOR pawl_boost_is_new_enough
        DOC "A folder with boost/version.hpp of Boost >= 1.91")
    if(PAWL_BOOST_INCLUDE_DIR)
        pawl_read_boost_version("${PAWL_BOOST_INCLUDE_DIR}" pawl_boost_version)
        add_library(Boost::headers INTERFACE IMPORTED)
        set_target_properties(Boost::headers PROPERTIES
            INTERFACE_INCLUDE_DIRECTORIES "${PAWL_BOOST_INCLUDE_DIR}")
    endif()
endif()
