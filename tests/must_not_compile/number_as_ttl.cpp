// error: .*write 30s or 500ms
#include <pawl/options.hpp>

using namespace std::chrono_literals;

pawl::lock_options short_lease() {
#ifdef MISUSE
    return {.ttl = 30};  // seconds? milliseconds?
#else
    return {.ttl = 30s};
#endif
}
