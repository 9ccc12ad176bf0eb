// error: needs the Boost that Pawl was built with
#include <boost/version.hpp>
#ifdef MISUSE
#undef BOOST_VERSION
#define BOOST_VERSION 107400
#endif
#include <pawl/asio_settings.hpp>
