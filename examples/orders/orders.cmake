# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The program `orders`, and its tests.
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/library.cmake)

# The tests: NAME, then the program's arguments. Each has a few orders of each fault.
function(pawl_add_orders_test name)
    add_test(NAME example.orders.${name} COMMAND orders ${ARGN})
    set_tests_properties(example.orders.${name} PROPERTIES LABELS example TIMEOUT 300)
endfunction()
function(pawl_add_orders_tests)
    set(few --orders 16 --lanes 2)
    foreach(missing IN ITEMS key key,fence record,key)
        string(REPLACE "," "_" name ${missing})
        pawl_add_orders_test(payment.without_${name} payment --without ${missing} ${few})
    endforeach()
    foreach(missing IN ITEMS key reconciliation token,unique record,unique)
        string(REPLACE "," "_" name ${missing})
        pawl_add_orders_test(orders.without_${name} orders --without ${missing} ${few})
    endforeach()
    pawl_add_orders_test(payment payment ${few})
    pawl_add_orders_test(orders orders ${few})
    pawl_add_orders_test(orders.sqlite orders --sqlite ${few})
    pawl_add_orders_test(sale sale --orders 200 --lanes 3)
    pawl_add_orders_test(sale.without_unique sale --without unique --orders 100 --lanes 2)
    # What each layer costs, and which one covers for it.
    pawl_add_orders_test(table --table)
    set_tests_properties(example.orders.table PROPERTIES LABELS "example;long" TIMEOUT 1800)
    # The first order has no fault, so that there is no damage to show.
    pawl_add_orders_test(no_fault orders --without key --orders 1 --lanes 1)
    set_tests_properties(example.orders.no_fault PROPERTIES
        PASS_REGULAR_EXPRESSION "no damage could be shown")
    # Wrong arguments: one sentence, and nothing is started.
    pawl_add_orders_test(refused.layer sale --without record)
    set_tests_properties(example.orders.refused.layer PROPERTIES
        PASS_REGULAR_EXPRESSION "The story sale has only these layers: lock, unique")
endfunction()

if(PAWL_WITH_POSTGRES OR PAWL_WITH_SQLITE)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/run/*.cpp)
    pawl_add_executable(orders SOURCES ${sources} LINK example_orders example_support)
    pawl_define_backends(orders)
    foreach(backend IN ITEMS postgres sqlite)
        if(backend IN_LIST pawl_backends)
            target_link_libraries(orders PRIVATE ${pawl_backend_${backend}_LIBRARIES})
        endif()
    endforeach()
    set_target_properties(orders PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    if(BUILD_TESTING OR PAWL_BUILD_TESTS)
        pawl_add_orders_tests()
    endif()
endif()
