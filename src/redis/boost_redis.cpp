// Boost.Redis and Asio's TLS are compiled once, here.
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/redis/src.hpp>
