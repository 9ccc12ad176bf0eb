# Makes Boost::headers from Boost >= 1.91: the one that CMake knows, else any headers found, else
# those that `./dev` keeps below the project in .deps.
# Sets pawl_boost_version ("1.92.0"), empty when there is none.
include(pawl_find_boost)

if(NOT TARGET Boost::headers)
    find_package(Boost 1.91 CONFIG QUIET)
endif()
pawl_find_boost(pawl_boost_folder pawl_boost_version
    HINTS "${CMAKE_CURRENT_LIST_DIR}/../.deps/boost/usr/include")
if(pawl_boost_folder AND NOT TARGET Boost::headers)
    add_library(Boost::headers INTERFACE IMPORTED)
    set_target_properties(Boost::headers PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${pawl_boost_folder}")
endif()
