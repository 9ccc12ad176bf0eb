// What each header of the async API includes first.
#include <pawl/asio_settings.hpp>

int main() {}
