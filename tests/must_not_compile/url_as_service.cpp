// error: no matching function|could not convert|no viable
#include <pawl/blocking.hpp>
#include <pawl/redis.hpp>

pawl::blocking::client connect() {
#ifdef MISUSE
    return pawl::blocking::client("redis://127.0.0.1");  // a URL is no service: say from_url or redis::at
#else
    return pawl::blocking::client(pawl::redis::at("redis://127.0.0.1"));
#endif
}
