// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "host_addresses.hpp"

#include "../core/util/wakeup.hpp"
#include "name_look_up.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>

#include <memory>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::net {
namespace {

struct look_up {
    look_up(const asio::any_io_executor& strand, const std::string& host, runtime& time)
        : names(strand, host), ended(time, strand) {}

    name_look_up names;
    core::wakeup ended;
    addresses result;
    boost::system::error_code failure;
    bool is_ended = false;
};

struct cancel_at_exit {
    std::shared_ptr<look_up> running;

    ~cancel_at_exit() { running->names.cancel(); }
};

// The wait of the look-up resumes on its coroutine's executor, so it has one on the strand.
asio::awaitable<void> run(std::shared_ptr<look_up> running) {
    try {
        running->failure = co_await running->names.wait(0, running->result);
    } catch (const std::exception&) {
        running->failure = asio::error::no_memory;
    }
    running->is_ended = true;
    running->ended.notify();
}

}  // namespace

asio::awaitable<std::vector<std::string>> host_addresses(std::string host, std::string server,
                                                         time_point give_up_at,
                                                         asio::any_io_executor strand,
                                                         runtime& time) {
    std::vector<std::string> texts{host};
    boost::system::error_code not_numeric;
    asio::ip::make_address(host, not_numeric);
    if (!not_numeric) co_return texts;
    const auto running = std::make_shared<look_up>(strand, host, time);
    const cancel_at_exit guard{running};
    asio::co_spawn(strand, run(running), asio::detached);
    const auto began_at = time.now();
    while (!running->is_ended && time.now() < give_up_at)
        co_await running->ended.wait_until(give_up_at);
    const auto begin = "The name " + host + " of " + server + " was not found";
    if (!running->is_ended)
        throw error(errc::unreachable,
                    begin + " within " + std::to_string((time.now() - began_at) / 1ms) + " ms.");
    if (running->failure)
        throw error(errc::unreachable, begin + " (" + running->failure.message() + ").");
    texts.clear();
    for (const auto& each : running->result)
        texts.push_back(host_text(each));
    co_return texts;
}

}  // namespace pawl::net
