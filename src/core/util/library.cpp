// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Definitions that only one library of a program may have, and the name of this library's Boost.
// Wherever a name contains boost, libpawl has another name:
// docs/decisions/018-two-libraries-from-one-build.md.
//
// The symbols are hidden: each program contains a copy of this file, also a program that links
// libpawl_asio.so. Linkers check the objects of a program more strictly than the symbols of a
// shared library.
#pragma GCC visibility push(hidden)
#include <pawl/detail/asio_settings.hpp>

namespace pawl {

// A program that links both libraries has two definitions of this, and the linker's error has this
// name.
extern const char link_either_pawl_or_pawl_asio_but_not_both;
const char link_either_pawl_or_pawl_asio_but_not_both = 0;

namespace this_program_must_link_the_library_pawl_asio_built_with::boost {

template <int Version>
void version() {}
template void version<BOOST_VERSION>();

// In older versions (tested with 1.74), Asio has a function of this name in every program that uses
// it. A thread-local variable cannot be merged with a function, so the linker refuses to combine
// such code with this Boost. Otherwise it would merge the other functions of both, and the program
// would crash.
extern thread_local char older_asio asm(
    "_ZN5boost4asio6detail16service_registry14do_use_serviceERKNS0_17execution_context7service3"
    "keyEPFPS4_PvES9_");
[[gnu::used,
  gnu::section(".tbss.two_versions_of_boost_in_one_program")]] thread_local char older_asio = 0;

}  // namespace this_program_must_link_the_library_pawl_asio_built_with::boost

}  // namespace pawl

#pragma GCC visibility pop
