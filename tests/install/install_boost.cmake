# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Installs the static libraries and the headers of Boost into `prefix`-boost.
file(REMOVE_RECURSE ${prefix}-boost)
foreach(component IN ITEMS package static boost)
    execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${prefix}-boost
        --component ${component} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
