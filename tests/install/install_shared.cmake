# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Installs the shared libraries into `prefix`-shared, and both kinds into `prefix`-both.
function(install_components where)
    file(REMOVE_RECURSE ${where})
    foreach(component IN LISTS ARGN)
        execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${where}
            --component ${component} COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
endfunction()
install_components(${prefix}-shared package shared)
install_components(${prefix}-both package shared static)
