// Asio is compiled once, here.
#include <boost/asio/impl/src.hpp>
