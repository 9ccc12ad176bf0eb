// Asio compiled once, as its manual describes.
#include <boost/asio/impl/src.hpp>
