// Every backend that this build has, by the scheme of its URLs.
#include "../core/url.hpp"

#include <pawl/error.hpp>
#include <pawl/memory.hpp>
#include <pawl/service.hpp>
#if PAWL_WITH_REDIS
#include <pawl/redis.hpp>
#endif
#if PAWL_WITH_SQLITE
#include <pawl/sqlite.hpp>
#endif

#include <array>

namespace pawl {
namespace {

service memory_at(std::string_view text) {
    const auto url = core::parse_url(text);
    if (!url.options.empty()) throw error(errc::bad_url, "A memory: URL has no options.");
    return url.path.empty() ? memory::make() : memory::named(url.path);
}

#if PAWL_WITH_SQLITE
service sqlite_at(std::string_view text) {
    const auto url = core::parse_url(text);
    sqlite::options where;
    if (!url.host.empty())
        throw error(errc::bad_url, "A sqlite: URL has no host; write sqlite:/path or sqlite:path.");
    where.path = url.path;
    for (const auto& [name, value] : url.options) {
        if (name != "namespace")
            throw error(errc::bad_url,
                        "The URL's option '" + name + "' is unknown; sqlite: has namespace.");
        where.name_space = value;
    }
    return sqlite::at(std::move(where));
}
#endif

#if PAWL_WITH_REDIS
service redis_at(std::string_view text) { return redis::at(text); }
#endif

struct entry {
    std::string_view scheme;
    service (*open)(std::string_view url);
};

constexpr std::array table {
#if PAWL_WITH_REDIS
    entry{"redis", redis_at}, entry{"rediss", redis_at}, entry{"redis+unix", redis_at},
#endif
#if PAWL_WITH_SQLITE
        entry{"sqlite", sqlite_at},
#endif
        entry{"memory", memory_at},
};

}  // namespace

service from_url(std::string_view url) {
    const auto scheme = core::scheme_of(url);
    for (const auto& [known, open] : table) {
        if (known == scheme) return open(url);
    }
    std::string schemes;
    for (const auto& [known, open] : table)
        schemes += (schemes.empty() ? "" : ", ") + std::string(known);
    throw error(errc::bad_url, "'" + std::string(scheme.empty() ? redacted(url) : scheme) +
                                   "' is no scheme that this build knows; use one of: " + schemes +
                                   ".");
}

}  // namespace pawl
