# Installs the shared libraries beside what lies in `prefix`, and alone into `prefix`-shared.
function(install_component component where)
    execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${where}
        --component ${component} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
file(REMOVE_RECURSE ${prefix}-shared)
foreach(component IN ITEMS package shared)
    install_component(${component} ${prefix}-shared)
endforeach()
# pawl.pc in `prefix` stays that of the static libraries: two kinds cannot share its name.
install_component(shared ${prefix})
install_component(static ${prefix})
