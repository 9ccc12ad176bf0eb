// Where a connection goes: the address of the server that was met last, else those of the host's
// name; and whether the server there may take the place of that one.
#include "wire.hpp"

#include "server_comparison.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using boost::system::error_code;

namespace pawl::redis {
namespace {

std::string hosts_of(const addresses& all) {
    std::string text;
    for (const auto& each : all)
        text.append(text.empty() ? "" : " and ").append(host_of(each));
    return text;
}

}  // namespace

void wire::begin_look_up(const std::shared_ptr<wire>& self) {
    if (!look_up_.expired()) return;
    auto begun = std::make_shared<name_look_up>(context_.strand, where_.host);
    look_up_ = begun;
    look_up_failure_ = {};
    asio::co_spawn(context_.strand, look_up(self, std::move(begun)), asio::detached);
}

asio::awaitable<void> wire::look_up(std::shared_ptr<wire> self,
                                    std::shared_ptr<name_look_up> begun) {
    addresses named;
    error_code failed;
    try {
        failed = co_await begun->answer(where_.port, named);
    } catch (const std::exception&) {
        failed = asio::error::no_memory;
    }
    begun.reset();
    if (!closing_) {
        look_up_failure_ = failed;
        if (!failed) named_as(std::move(named));
    }
    looked_up_.ring();
    self.reset();
}

// The client need not wait for this where it knows a server, which may be there still although the
// name has gone on to another one: then it follows.
void wire::named_as(addresses named) {
    const bool busy = connection_ && !connection_->closed();
    if (busy && server_ && connection_->server() == server_->at && !contains(named, server_->at)) {
        end_reason_ = "the name does not lead to " + host_of(server_->at) + " any more, but to " +
                      hosts_of(named);
        connection_->close();
    }
    if (!ready_ || connection_->closed()) named_ = std::move(named);
}

// The addresses to try, in their order. A name is waited for only where no server is known.
asio::awaitable<error_code> wire::find_addresses(std::shared_ptr<wire> self, time_point give_up_at,
                                                 addresses& to) {
    error_code ec;
    if (!where_.unix_socket.empty()) {
        try {
            to.emplace_back(asio::local::stream_protocol::endpoint(where_.unix_socket));
        } catch (const boost::system::system_error& e) {
            ec = e.code();  // a path that is too long
        }
        co_return ec;
    }
    const auto numeric = asio::ip::make_address(where_.host, ec);
    if (!ec) {
        to.emplace_back(asio::ip::tcp::endpoint(numeric, where_.port));
        co_return ec;
    }
    ec = {};
    if (named_.empty()) {
        try {
            begin_look_up(self);
        } catch (const std::exception&) {
            if (!server_) throw;
        }
    }
    while (!server_ && named_.empty() && !look_up_.expired() && !is_over() &&
           time().now() < give_up_at)
        co_await looked_up_.wait_until(give_up_at);
    to = attempt_names_ = std::exchange(named_, {});
    if (server_ && to.empty()) to.push_back(server_->at);
    if (server_)
        std::ranges::stable_partition(to,
                                      [this](const address& each) { return each == server_->at; });
    if (to.empty()) {
        ec = look_up_failure_ ? look_up_failure_ : error_code(asio::error::timed_out);
        end_reason_ = look_up_failure_ ? look_up_failure_.message()
                                       : "no name server has answered so far for its name";
    }
    co_return ec;
}

// An address that does not answer leaves time for those behind it.
asio::awaitable<error_code> wire::reach(std::shared_ptr<wire> self, const addresses& all,
                                        time_point give_up_at) {
    error_code ended;
    for (std::size_t i = 0; i < all.size() && !is_over(); ++i) {
        const auto made = std::make_shared<connection>(where_, context_.strand);
        connection_ = made;
        hung_ = false;
        greeted_ = std::make_shared<core::alarm>(time(), context_.strand);
        const auto now = time().now();
        const auto left = static_cast<duration::rep>(all.size() - i);
        const auto until = now + std::max<duration>(give_up_at - now, duration{}) / left;
        asio::co_spawn(context_.strand, limit_greeting(self, made, greeted_, until),
                       asio::detached);
        ended = co_await made->open(all[i]);
        if (!ended || !end_reason_.empty()) break;
        made->close();
        greeted_->ring();
    }
    co_return ended;
}

// A server that cannot be reached, takes the connection and says nothing, or says something else
// than Redis does, is no server.
asio::awaitable<void> wire::limit_greeting(std::shared_ptr<wire> self,
                                           std::shared_ptr<connection> on,
                                           std::shared_ptr<core::alarm> greeted, time_point until) {
    const auto began = time().now();
    while (!ready_ && !on->closed()) {
        if (time().now() < until) {
            co_await greeted->wait_until(until);
        } else if (on->opened() && until < began + where_.reply_timeout) {
            until = began + where_.reply_timeout;
        } else {
            hung_ = true;
            on->close();
        }
    }
    self.reset();
}

// A restarted server has a new run_id at its old address. Another address is another server, unless
// it has the run_id; the name decides whether it takes the place of the one before.
//   B holds at 127.0.0.2 while 127.0.0.1 restarts | 127.0.0.1 is there again | C connects to it
//   C must not get the lock: it asks 127.0.0.2 as well, which has another run_id.
asio::awaitable<void> wire::check_server(std::shared_ptr<connection> on, const session& met) {
    const auto at = on->server();
    if (server_ && server_->at == at) {
        server_->run_id = met.run_id;
        co_return;
    }
    const bool other = server_ && (met.run_id.empty() || met.run_id != server_->run_id);
    if (other && contains(attempt_names_, server_->at)) refuse_other(about_, server_->at, at);
    auto beside = attempt_names_;
    std::erase(beside, at);
    if (!beside.empty()) {
        const auto now = time().now();
        const auto limit = now + std::max<duration>(attempt_ends_at_ - now, duration{}) / 2;
        const auto servers = co_await meet_servers(where_, context_.strand, time(), beside, limit);
        refuse_several(about_, at, met.run_id, servers);
    }
    if (connection_ != on || on->closed()) co_return;
    if (other)
        log("the name leads to " + host_of(at) + " now, which is another server than " +
            host_of(server_->at) + " before");
    server_ = met_last{at, met.run_id};
}

}  // namespace pawl::redis
