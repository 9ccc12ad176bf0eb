// error: needs Boost.Asio in its default settings
#ifdef MISUSE
#define BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE 8
#endif
#include <pawl/backend.hpp>
