// error: needs Boost.Asio in its default settings
#ifdef MISUSE
#define BOOST_ASIO_DISABLE_THREADS
#endif
#include <pawl/asio_settings.hpp>
