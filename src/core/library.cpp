// What only one library of a program may define, and what names the Boost of this one. Wherever a
// name says boost, libpawl has another one: docs/decisions/018-two-libraries-from-one-build.md.
//
// Hidden: each program has a copy of its own inside, of libpawl_asio.so too, where linkers look
// closer than between a program and a shared library.
#pragma GCC visibility push(hidden)
#include <pawl/asio_settings.hpp>

namespace pawl {

// A program that links both libraries has two of these, and the linker says so by this name.
extern const char link_either_pawl_or_pawl_asio_but_not_both;
const char link_either_pawl_or_pawl_asio_but_not_both = 0;

namespace this_program_must_link_the_library_pawl_asio_built_with::boost {

template <int Version>
void version() {}
template void version<BOOST_VERSION>();

// Asio of older Boosts (tested with 1.74) has a function of this name in every program that uses
// it. A variable of each thread cannot be merged with a function, so the linker refuses such code
// beside this Boost; it would merge the other functions of both, and the program would crash.
extern thread_local char older_asio asm(
    "_ZN5boost4asio6detail16service_registry14do_use_serviceERKNS0_17execution_context7service3"
    "keyEPFPS4_PvES9_");
[[gnu::used,
  gnu::section(".tbss.two_versions_of_boost_in_one_program")]] thread_local char older_asio = 0;

}  // namespace this_program_must_link_the_library_pawl_asio_built_with::boost

}  // namespace pawl

#pragma GCC visibility pop
