# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Every page, example, manual and completion of the source tree is in the installed one.
set(missing "")
function(expect folder)
    foreach(file IN LISTS ARGN)
        if(NOT EXISTS ${prefix}/${folder}/${file})
            message(SEND_ERROR "${prefix}/${folder}/${file} is not installed.")
        endif()
    endforeach()
endfunction()
file(GLOB pages RELATIVE ${source} ${source}/docs/*/*.md)
file(GLOB_RECURSE examples RELATIVE ${source} ${source}/examples/*.cpp ${source}/examples/*.hpp
    ${source}/examples/*.md)
file(GLOB manuals_there RELATIVE ${source}/cli/man ${source}/cli/man/*.1)
expect(${docs} ${pages} ${examples} examples/CMakeLists.txt README.md LICENSE)
expect(${manuals}/man1 ${manuals_there})
expect(${data} bash-completion/completions/pawl zsh/site-functions/_pawl
    fish/vendor_completions.d/pawl.fish)
