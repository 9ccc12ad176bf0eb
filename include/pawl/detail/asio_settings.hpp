// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Refuses a Boost.Asio that differs from that of Pawl's libraries: otherwise the program would
// link, and crash. Every header that includes Asio includes this one first. See
// docs/guide/linking.md.
#pragma once

#if !__has_include(<boost/version.hpp>)
#error \
    "Pawl's async API needs Boost's headers: use find_package(pawl COMPONENTS asio) and link \
pawl::asio, or set PAWL_BOOST_INCLUDE_DIR."
#else

#include <boost/version.hpp>

#if BOOST_VERSION < 109100
#error "Pawl's async API needs the Boost that Pawl was built with, which is 1.91 or later."
#else

#include <boost/asio/detail/config.hpp>

// The settings of Asio that change its objects' layout, or how they work together.
#if defined(BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE)
#if BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE != 2
#define PAWL_OTHER_ASIO
#endif
#endif
#if defined(BOOST_ASIO_VERSION_NAMESPACE) || defined(BOOST_ASIO_ENABLE_HANDLER_TRACKING) ||  \
    defined(BOOST_ASIO_ENABLE_BUFFER_DEBUGGING) || defined(BOOST_ASIO_HAS_IO_URING) ||       \
    defined(BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING) ||                                     \
    defined(BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING) ||                                 \
    defined(BOOST_ASIO_NO_TS_EXECUTORS) || defined(BOOST_ASIO_USE_TS_EXECUTOR_AS_DEFAULT) || \
    defined(BOOST_ASIO_NO_EXCEPTIONS) || defined(BOOST_ASIO_NO_TYPEID) ||                    \
    !defined(BOOST_ASIO_HAS_THREADS) || !defined(BOOST_ASIO_HAS_THREAD_KEYWORD_EXTENSION) || \
    !defined(BOOST_ASIO_HAS_EPOLL) || !defined(BOOST_ASIO_HAS_EVENTFD) ||                    \
    !defined(BOOST_ASIO_HAS_TIMERFD) || !defined(BOOST_ASIO_HAS_STD_ALIGNED_ALLOC)
#define PAWL_OTHER_ASIO
#endif

#ifdef PAWL_OTHER_ASIO
#error "Pawl's async API needs Boost.Asio in its default settings; a BOOST_ASIO_ macro differs."
#endif

#endif

// With another version of Boost, or without pawl_asio, the linker's error names this namespace.
namespace pawl::this_program_must_link_the_library_pawl_asio_built_with::boost {

template <int Version>
void version();

[[gnu::used]] static constexpr auto same = &version<BOOST_VERSION>;

}  // namespace pawl::this_program_must_link_the_library_pawl_asio_built_with::boost

#endif
