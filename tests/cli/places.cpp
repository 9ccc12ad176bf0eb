#include "places.hpp"

#include <pawl/backend.hpp>
#include <pawl/service.hpp>

#include <boost/asio/io_context.hpp>

namespace cli_test {

namespace {

// What the service says of itself; nobody is connected to.
pawl::promises promised_at(const std::string& url) {
    boost::asio::io_context loop;
    pawl::backend_context context;
    context.strand = loop.get_executor();
    context.time = &pawl::real_runtime();
    return pawl::from_url(url).open(std::move(context))->promised();
}

}  // namespace

std::vector<place> places() {
    return {{.name = "Sqlite", .on_redis = false}, {.name = "Redis", .on_redis = true}};
}

std::vector<place> places_with_modes() {
    auto found = places();
    std::erase_if(found, [](const place& each) {
        const auto promised = promised_at(each.on_redis ? "redis://127.0.0.1" : "sqlite:/nowhere");
        return !promised.shared || !promised.permits || !promised.strictly_fair;
    });
    return found;
}

}  // namespace cli_test
