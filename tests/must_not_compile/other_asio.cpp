// error: Asio has other settings than in Pawl
#ifdef MISUSE
#undef BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE
#endif
#include <pawl/client.hpp>
