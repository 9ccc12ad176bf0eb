// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "postgres_proxy.hpp"

#include "proxy_pipe.hpp"
#include "resp.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include <cerrno>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace support {

namespace {

struct sql_proxy_state {
    std::vector<sql_fault> faults;
    std::vector<std::string> requests;  // their SQL
    std::size_t strike_count = 0;
    bool frozen = false;

    std::optional<sql_fault> match_fault(const std::string& sql) {
        for (sql_fault& each : faults) {
            if (each.times == 0 || sql.find(each.text) == std::string::npos) continue;
            --each.times;
            ++strike_count;
            return each;
        }
        return std::nullopt;
    }
};

std::size_t number_at(const std::string& bytes, std::size_t at) {
    std::size_t result = 0;
    for (std::size_t i = at; i < at + 4; ++i)
        result = result << 8 | static_cast<unsigned char>(bytes[i]);
    return result;
}

// The size of the first message, if it is complete; `prefix` is the size of its type.
std::optional<std::size_t> message_size(const std::string& bytes, std::size_t prefix) {
    if (bytes.size() < prefix + 4) return std::nullopt;
    const auto size = prefix + number_at(bytes, prefix);
    if (bytes.size() < size) return std::nullopt;
    return size;
}

// Adds what the socket has. False: it has ended.
bool read_into(std::string& bytes, int socket) {
    std::array<char, 65536> chunk{};
    const auto count = ::recv(socket, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    bytes.append(chunk.data(), static_cast<std::size_t>(count));
    return count > 0;
}

class sql_connection {
public:
    sql_connection(int client, int server) : client_(client), server_(server) {}
    sql_connection(const sql_connection&) = delete;
    sql_connection& operator=(const sql_connection&) = delete;
    ~sql_connection() {
        ::close(client_);
        ::close(server_);
    }

    [[nodiscard]] int client() const noexcept { return client_; }
    [[nodiscard]] int server() const noexcept { return server_; }
    [[nodiscard]] bool is_swallowing() const noexcept { return is_swallowing_; }
    [[nodiscard]] bool is_over() const noexcept { return is_over_; }
    [[nodiscard]] pawl::time_point wakes_at() const noexcept {
        return std::min(to_client_.ready_at(), to_server_.ready_at());
    }

    void read_client(sql_proxy_state& state) {
        if (!read_into(from_client_, client_)) is_over_ = true;
        while (!is_swallowing_ && !is_over_ && take_client_message(state)) {}
    }

    void read_server() {
        if (!read_into(from_server_, server_)) is_over_ = true;
        while (!is_cut_) {
            const auto size = message_size(from_server_, 1);
            if (!size) break;
            handle_reply(from_server_.substr(0, *size));
            from_server_.erase(0, *size);
        }
    }

    void flush(pawl::time_point now) {
        if (!to_server_.flush(server_, now) || !to_client_.flush(client_, now)) is_over_ = true;
        if (is_cut_ && to_client_.is_empty()) is_over_ = true;
    }

private:
    bool take_client_message(sql_proxy_state& state) {
        const auto size = message_size(from_client_, has_started_ ? 1 : 0);
        if (!size) return false;
        const std::string message = from_client_.substr(0, *size);
        from_client_.erase(0, *size);
        if (has_started_)
            handle_request(message, state);
        else
            handle_start(message);
        return true;
    }

    void handle_start(const std::string& message) {
        constexpr std::size_t tls_request = 80877103, gss_request = 80877104;
        const auto code = number_at(message, 4);
        if (code == tls_request || code == gss_request) return to_client_.add("N", {});
        to_server_.add(message, {});
        has_started_ = true;
        expected_.emplace_back();
    }

    void handle_request(const std::string& message, sql_proxy_state& state) {
        const char type = message.front();
        std::istringstream content(message.substr(5));
        std::string first, second;
        std::getline(std::getline(content, first, '\0'), second, '\0');
        if (type == 'Q') sql_ += first;
        if (type == 'P') statements_[first] = second;
        if (type == 'B') sql_ += statements_[second] + ";";  // `first` is a portal
        if (type != 'S') request_ += message;
        if (type == 'S' || type == 'Q')
            finish_request(type == 'S' ? message : "", state);
        else if (type == 'X' || type == 'H' || type == 'p')
            to_server_.add(std::exchange(request_, {}), {});
    }

    void finish_request(const std::string& sync, sql_proxy_state& state) {
        const std::string sql = std::exchange(sql_, {});
        const std::string request = std::exchange(request_, {});
        state.requests.push_back(sql);
        const auto fault = state.match_fault(sql);
        if (fault && fault->kind == sql_fault_kind::lose_request) {
            is_over_ = true;
        } else if (fault && fault->kind == sql_fault_kind::swallow) {
            is_swallowing_ = true;
        } else {
            const bool loses_sync = fault && fault->kind == sql_fault_kind::lose_sync;
            to_server_.add(request + (loses_sync ? "" : sync), {});
            is_swallowing_ = loses_sync;
            expected_.push_back(fault);
        }
    }

    void handle_reply(const std::string& message) {
        const char type = message.front();
        const bool is_for_request = type != 'A' && type != 'N' && type != 'S';
        if (!is_for_request || expected_.empty() || !expected_.front()) {
            to_client_.add(message, {});
        } else {
            reply_ += message;
        }
        if (type != 'Z' || expected_.empty()) return;
        if (const auto fault = expected_.front()) finish_reply(*fault);
        expected_.pop_front();
    }

    void finish_reply(const sql_fault& fault) {
        const std::string reply = std::exchange(reply_, {});
        if (fault.kind == sql_fault_kind::delay_reply)
            return to_client_.add(reply, pawl::boot_clock::now() + fault.delay);
        if (fault.kind == sql_fault_kind::cut_reply)
            to_client_.add(reply.substr(0, reply.size() / 2), {});
        is_cut_ = true;
    }

    int client_;
    int server_;
    std::string from_client_, from_server_;
    std::string request_, reply_, sql_;
    std::map<std::string, std::string> statements_;
    std::deque<std::optional<sql_fault>> expected_;  // for each reply that will come
    proxy_pipe to_client_, to_server_;
    bool has_started_ = false;
    bool is_swallowing_ = false;
    bool is_cut_ = false;  // over as soon as the client has what is sent to it
    bool is_over_ = false;
};

}  // namespace

class postgres_proxy::engine {
public:
    explicit engine(std::uint16_t server_port)
        : server_port_(server_port),
          listener_(listen_on(port_)),
          wake_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          thread_([this](const std::stop_token& stop) { run(stop); }) {}
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;
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

    sql_proxy_state state;
    std::list<sql_connection> connections;
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

private:
    void wake() const {
        const std::uint64_t increment = 1;
        [[maybe_unused]] const auto written = ::write(wake_event_, &increment, sizeof increment);
    }

    // Frozen and swallowing connections are not read: data wait in the kernel, as on a network.
    std::vector<pollfd> poll_set() const {
        std::vector<pollfd> result{{wake_event_, POLLIN, 0},
                                   {state.frozen ? -1 : listener_, POLLIN, 0}};
        for (const sql_connection& each : connections) {
            const bool stopped = state.frozen || each.is_swallowing();
            result.push_back({stopped ? -1 : each.client(), POLLIN, 0});
            result.push_back({stopped ? -1 : each.server(), POLLIN, 0});
        }
        return result;
    }

    int poll_timeout() const {
        auto next = pawl::time_point::max();
        for (const sql_connection& each : connections)
            next = std::min(next, each.wakes_at());
        if (state.frozen || next == pawl::time_point::max()) return -1;
        using std::chrono::milliseconds;
        const auto left = std::chrono::ceil<milliseconds>(next - pawl::boot_clock::now());
        return std::clamp(static_cast<int>(left.count()), 1, 1000);
    }

    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::unique_lock lock(mutex_);
            auto ready = poll_set();
            const int timeout = poll_timeout();
            lock.unlock();
            ::poll(ready.data(), ready.size(), timeout);
            lock.lock();
            std::uint64_t wakes = 0;
            [[maybe_unused]] const auto count = ::read(wake_event_, &wakes, sizeof wakes);
            if (state.frozen) continue;
            serve(ready);
            if (ready[1].revents != 0) accept_client();
        }
    }

    // Some connections may have ended since the sockets were collected.
    void serve(const std::vector<pollfd>& ready) {
        const auto is_ready = [&](int socket) {
            return std::any_of(ready.begin() + 2, ready.end(), [&](const pollfd& each) {
                return each.fd == socket && each.revents != 0;
            });
        };
        for (sql_connection& each : connections) {
            if (is_ready(each.client())) each.read_client(state);
            if (is_ready(each.server())) each.read_server();
            each.flush(pawl::boot_clock::now());
        }
        connections.remove_if([](const sql_connection& each) { return each.is_over(); });
    }

    void accept_client() {
        const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) return;
        const int server = connect_to({.port = server_port_, .unix_socket = {}});
        if (server < 0) {
            ::close(client);
            return;
        }
        connections.emplace_back(client, server);
    }

    const std::uint16_t server_port_;
    std::uint16_t port_ = 0;
    int listener_;
    int wake_event_;
    std::mutex mutex_;
    std::jthread thread_;
};

postgres_proxy::postgres_proxy(std::uint16_t server_port)
    : engine_(std::make_unique<engine>(server_port)) {}
postgres_proxy::~postgres_proxy() = default;

std::uint16_t postgres_proxy::port() const noexcept { return engine_->port(); }

std::string postgres_proxy::url(const std::string& database, const std::string& more) const {
    return "postgresql://postgres@127.0.0.1:" + std::to_string(port()) + "/" + database + more;
}

void postgres_proxy::inject(sql_fault injected) {
    engine_->with([&](engine& each) { each.state.faults.push_back(std::move(injected)); });
}

std::size_t postgres_proxy::strike_count() const {
    return engine_->with([](const engine& each) { return each.state.strike_count; });
}

void postgres_proxy::heal() {
    engine_->with([](engine& each) { each.state.faults.clear(); });
}

void postgres_proxy::kill_connections() {
    engine_->with([](engine& each) { each.connections.clear(); });
}

void postgres_proxy::freeze(bool frozen) {
    engine_->with([&](engine& each) { each.state.frozen = frozen; });
}

std::size_t postgres_proxy::count(const std::string& text) const {
    return engine_->with([&](const engine& each) {
        return static_cast<std::size_t>(
            std::count_if(each.state.requests.begin(), each.state.requests.end(),
                          [&](const std::string& sql) { return sql.find(text) != sql.npos; }));
    });
}

}  // namespace support
