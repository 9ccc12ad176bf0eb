// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "name_look_up.hpp"

#include "../core/util/exhausted.hpp"
#include "../core/util/start_thread.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>

#include <netdb.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

namespace asio = boost::asio;
using boost::system::error_code;

namespace pawl::net {

// The data that is shared with the thread. `state_mutex` guards it.
struct name_look_up::state {
    std::vector<int> events;  // eventfds
    bool is_answered = false;
    error_code failure;
    std::vector<asio::ip::address> hosts;
};

namespace {

using look_ups = std::map<std::string, std::shared_ptr<void>>;

std::mutex state_mutex;
look_ups* pending_look_ups =
    nullptr;  // never deleted, since a detached thread may outlive static objects

// A forked child has none of the threads, so it drops the list.
const int fork_handlers = ::pthread_atfork([] { state_mutex.lock(); }, [] { state_mutex.unlock(); },
                                           [] {
                                               pending_look_ups = nullptr;
                                               state_mutex.unlock();
                                           });

error_code error_of(int failure) {
    switch (failure) {
    case EAI_AGAIN: return asio::error::host_not_found_try_again;
    case EAI_FAIL: return asio::error::no_recovery;
    case EAI_MEMORY: return asio::error::no_memory;
    case EAI_SYSTEM: return {errno, boost::system::system_category()};
    default: return asio::error::host_not_found;
    }
}

error_code resolve(const std::string& host, std::vector<asio::ip::address>& result) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* first = nullptr;
    const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &first);
    if (code != 0) return error_of(code);
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned_list(first, &::freeaddrinfo);
    for (const auto* each = first; each != nullptr; each = each->ai_next) {
        asio::ip::tcp::endpoint endpoint;
        if (each->ai_addrlen > endpoint.capacity()) continue;
        endpoint.resize(each->ai_addrlen);
        std::memcpy(endpoint.data(), each->ai_addr, each->ai_addrlen);
        if (std::find(result.begin(), result.end(), endpoint.address()) == result.end())
            result.push_back(endpoint.address());
    }
    return result.empty() ? asio::error::host_not_found : error_code{};
}

}  // namespace

name_look_up::name_look_up(const asio::any_io_executor& executor, std::string host)
    : host_(std::move(host)), answer_event_(executor) {
    const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0)
        throw core::exhausted("The name '" + host_ + "' cannot be looked up",
                              std::system_category().message(errno));
    answer_event_.assign(event);
    const std::lock_guard lock(state_mutex);
    if (pending_look_ups == nullptr) pending_look_ups = new look_ups;
    const auto it = pending_look_ups->find(host_);
    if (it != pending_look_ups->end()) {
        state_ = std::static_pointer_cast<state>(it->second);
        state_->events.push_back(event);
        return;
    }
    if (pending_look_ups->size() >= max_look_ups)
        throw core::exhausted("The name '" + host_ + "' cannot be looked up",
                              std::to_string(max_look_ups) +
                                  " other names are being looked up without an answer so far");
    auto new_state = std::make_shared<state>();
    new_state->events.push_back(event);
    const auto entry = pending_look_ups->emplace(host_, new_state).first;
    try {
        core::start_thread("looking up the name of a server", [name = host_, new_state] {
            run(name, new_state);
        }).detach();
    } catch (...) {
        pending_look_ups->erase(entry);
        throw;
    }
    state_ = std::move(new_state);
}

void name_look_up::run(const std::string& host, const std::shared_ptr<state>& target) noexcept {
    std::vector<asio::ip::address> hosts;
    error_code failure;
    try {
        failure = resolve(host, hosts);
    } catch (...) {
        failure = asio::error::no_memory;
    }
    const std::lock_guard lock(state_mutex);
    target->is_answered = true;
    target->failure = failure;
    target->hosts = std::move(hosts);
    if (const auto it = pending_look_ups->find(host); it != pending_look_ups->end())
        pending_look_ups->erase(it);
    for (const int each : target->events)
        ::eventfd_write(each, 1);
}

asio::awaitable<error_code> name_look_up::wait(std::uint16_t port, addresses& result) {
    error_code ec;
    auto token = asio::redirect_error(asio::deferred, ec);
    if (!answer_event_.is_open()) co_return asio::error::operation_aborted;
    co_await answer_event_.async_wait(asio::posix::descriptor_base::wait_read, token);
    const std::lock_guard lock(state_mutex);
    if (!state_->is_answered) co_return ec ? ec : asio::error::operation_aborted;
    for (const auto& each : state_->hosts)
        result.push_back(asio::ip::tcp::endpoint(each, port));
    co_return state_->failure;
}

void name_look_up::cancel() noexcept {
    if (!answer_event_.is_open()) return;
    if (state_) {
        const std::lock_guard lock(state_mutex);
        std::erase(state_->events, answer_event_.native_handle());
    }
    error_code ignored;
    answer_event_.close(ignored);
}

}  // namespace pawl::net
