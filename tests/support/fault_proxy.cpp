// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "fault_proxy.hpp"

#include "proxy_connection.hpp"

#include <algorithm>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace support {

matcher any_command() {
    return [](const command_words&) { return true; };
}

matcher named(std::string command) {
    return [command = std::move(command)](const command_words& words) {
        return ::strcasecmp(words.front().c_str(), command.c_str()) == 0;
    };
}

matcher with_word(std::string word) {
    return [word = std::move(word)](const command_words& words) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
}

class fault_proxy::engine {
public:
    explicit engine(endpoint upstream) : upstream_(std::move(upstream)) {
        ::close(listen_on(port_));
        listener_ = listen_on(port_);  // by its number: see `refuse`
        ::fcntl(listener_, F_SETFL, O_NONBLOCK);
        wake_event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    ~engine() {
        thread_.request_stop();
        wake();
        thread_.join();
        ::close(listener_);
        ::close(wake_event_);
    }

    // Runs `change` between two steps of the loop.
    template <class Change>
    auto with(Change change) {
        const std::scoped_lock lock(mutex_);
        wake();
        return change(*this);
    }

    std::uint16_t port_ = 0;
    int listener_ = -1;
    bool refuses_ = false;
    proxy_state state_;
    std::list<proxy_connection> connections_;
    std::size_t connections_ever_ = 0;
    endpoint upstream_;

private:
    void wake() {
        const std::uint64_t increment = 1;
        [[maybe_unused]] const auto written = ::write(wake_event_, &increment, sizeof increment);
    }
    void run(const std::stop_token& stop);
    void accept_client();
    [[nodiscard]] int poll_timeout() const;
    void serve_connections(const std::vector<pollfd>& ready);
    [[nodiscard]] std::vector<pollfd> poll_set() const;

    int wake_event_ = -1;
    std::mutex mutex_;
    std::jthread thread_;
};

// Frozen and swallowing connections are not polled: data wait in the kernel, as on a real network.
std::vector<pollfd> fault_proxy::engine::poll_set() const {
    const bool refusing = state_.frozen || refuses_;
    std::vector<pollfd> result{{wake_event_, POLLIN, 0}, {refusing ? -1 : listener_, POLLIN, 0}};
    for (const proxy_connection& each : connections_) {
        const bool stopped = state_.frozen || each.is_swallowing();
        const short events = stopped ? short{0} : short{POLLIN};
        result.push_back({stopped ? -1 : each.client(), events, 0});
        result.push_back({stopped ? -1 : each.server(), events, 0});
    }
    return result;
}

int fault_proxy::engine::poll_timeout() const {
    if (state_.frozen) return -1;
    auto next = pawl::time_point::max();
    for (const proxy_connection& each : connections_)
        next = std::min(next, each.wakes_at());
    if (next == pawl::time_point::max()) return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(next - pawl::boot_clock::now()).count();
    // A full socket leaves data that are due but cannot be sent yet: check again soon.
    return static_cast<int>(std::max<std::int64_t>(left, 1));
}

void fault_proxy::engine::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::vector<pollfd> ready;
        int timeout = 0;
        {
            const std::scoped_lock lock(mutex_);
            ready = poll_set();
            timeout = poll_timeout();
        }
        (void)::poll(ready.data(), ready.size(), timeout);
        std::uint64_t ignored = 0;
        [[maybe_unused]] const auto count = ::read(wake_event_, &ignored, sizeof ignored);
        const std::scoped_lock lock(mutex_);
        serve_connections(ready);
    }
}

// The test may have removed connections during the poll, so sockets are found by their number.
void fault_proxy::engine::serve_connections(const std::vector<pollfd>& ready) {
    const auto readable = [&](int socket) {
        return std::any_of(ready.begin(), ready.end(), [&](const pollfd& each) {
            return each.fd == socket && each.revents != 0;
        });
    };
    if (state_.frozen) return;
    for (proxy_connection& each : connections_) {
        try {
            if (!each.is_over() && readable(each.client())) each.read_client(state_);
            if (!each.is_over() && readable(each.server())) each.read_server(state_);
            each.flush(pawl::boot_clock::now());
        } catch (const std::runtime_error&) {
            // Not RESP: the proxy cannot forward it and ends the connection.
            connections_.remove_if([&](const proxy_connection& it) { return &it == &each; });
            break;
        }
    }
    connections_.remove_if([](const proxy_connection& each) { return each.is_over(); });
    if (!refuses_ && readable(listener_)) accept_client();
}

void fault_proxy::engine::accept_client() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    const int server = connect_to(upstream_);
    if (server < 0) {
        ::close(client);
        return;
    }
    connections_.emplace_back(client, server, ++connections_ever_);
}

fault_proxy::fault_proxy(endpoint upstream)
    : engine_(std::make_unique<engine>(std::move(upstream))) {}

fault_proxy::~fault_proxy() = default;

std::uint16_t fault_proxy::port() const noexcept { return engine_->port_; }

std::string fault_proxy::url(const std::string& more) const {
    return "redis://127.0.0.1:" + std::to_string(port()) + more;
}

void fault_proxy::inject(fault injected) {
    engine_->with([&](engine& it) { it.state_.faults.push_back({std::move(injected)}); });
}

std::size_t fault_proxy::strike_count() const {
    return engine_->with([](engine& it) { return it.state_.strike_count; });
}

void fault_proxy::heal() {
    engine_->with([](engine& it) { it.state_.faults.clear(); });
}

// A socket that was bound by number and has stopped listening keeps its port; a closed one would
// lose it to another program.
void fault_proxy::refuse(bool refused) {
    engine_->with([&](engine& it) {
        if (std::exchange(it.refuses_, refused) == refused) return;
        if (refused)
            ::shutdown(it.listener_, SHUT_RD);
        else if (::listen(it.listener_, 128) != 0)
            throw std::runtime_error("cannot listen again on port " + std::to_string(it.port_));
    });
}

void fault_proxy::lead_to(endpoint upstream) {
    engine_->with([&](engine& it) { it.upstream_ = std::move(upstream); });
}

void fault_proxy::kill_connections() {
    engine_->with([](engine& it) { it.connections_.clear(); });
}

void fault_proxy::freeze(bool frozen) {
    engine_->with([&](engine& it) { it.state_.frozen = frozen; });
}

void fault_proxy::drop_pushes(bool dropped) {
    engine_->with([&](engine& it) { it.state_.drop_pushes = dropped; });
}

void fault_proxy::delay(std::chrono::milliseconds requests, std::chrono::milliseconds replies) {
    engine_->with([&](engine& it) {
        it.state_.request_delay = requests;
        it.state_.reply_delay = replies;
    });
}

std::vector<seen_command> fault_proxy::commands() const {
    return engine_->with([](engine& it) { return it.state_.commands; });
}

std::size_t fault_proxy::count(const matcher& which) const {
    const auto all = commands();
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [&](const seen_command& each) { return which(each.words); }));
}

void fault_proxy::forget_commands() {
    engine_->with([](engine& it) { it.state_.commands.clear(); });
}

std::size_t fault_proxy::connections_ever() const {
    return engine_->with([](engine& it) { return it.connections_ever_; });
}

std::size_t fault_proxy::connections_now() const {
    return engine_->with([](engine& it) { return it.connections_.size(); });
}

}  // namespace support
