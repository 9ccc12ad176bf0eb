// Whether the addresses of a host's name lead to one server. Two servers that never heard of each
// other each give the same lock to a client.
#pragma once

#include "address.hpp"

#include <pawl/error.hpp>
#include <pawl/redis.hpp>
#include <pawl/runtime.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace pawl::redis {

// The host's name leads to more than one server, or may do so; the sentence says which.
class several_servers : public error {
public:
    explicit several_servers(const std::string& which) : error(errc::unreachable, which) {}
};

struct met_server {
    address at;
    bool reached = false;  // it took the connection
    std::string run_id;    // empty where it does not say it; then `trouble` says why
    std::string trouble;
};

// Asks at all of them at the same time, over a connection each, at most until `give_up_at`.
[[nodiscard]] boost::asio::awaitable<std::vector<met_server>> meet_servers(
    const options& where, boost::asio::any_io_executor strand, runtime& time, const addresses& all,
    time_point give_up_at);

// Throws several_servers, unless those that were reached are the server of that run_id. `about`
// names the URL, and `at` is the server's own address.
void refuse_several(const std::string& about, const address& at, const std::string& run_id,
                    const std::vector<met_server>& others);
// The same for the one address that answers now, where the name still leads to `known` as well.
void refuse_other(const std::string& about, const address& known, const address& at);

}  // namespace pawl::redis
