// Promises one clear error where a program's Asio is set up otherwise than that of Pawl's
// libraries; else it links, and crashes. Every header that includes Asio includes this first.
#pragma once

// The second is 2 where Asio was included before without it.
#if !defined(BOOST_ASIO_SEPARATE_COMPILATION) || !defined(BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE)
#define PAWL_OTHER_ASIO
#elif BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE != 8
#define PAWL_OTHER_ASIO
#endif

#ifdef PAWL_OTHER_ASIO
#error "Asio has other settings than in Pawl; link pawl::pawl, or use `pkg-config --cflags pawl`."
#endif
