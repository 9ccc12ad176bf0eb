// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redis_fixture.hpp"

namespace chaos {

void log_capture::write(std::string_view line) {
    const std::scoped_lock lock(mutex_);
    text_.append(line).append("\n");
}

std::string log_capture::text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
}

std::ostream& operator<<(std::ostream& out, const std::optional<failure>& failed) {
    if (!failed) return out << "no failure";
    return out << pawl::make_error_code(failed->reason).message() << ": " << failed->sentence;
}

redis_fixture::redis_fixture(support::redis_options server_options)
    : server(std::move(server_options)), proxy({.port = server.port(), .unix_socket = {}}) {}

client redis_fixture::direct_client(const std::string& suffix) {
    return client_at(server.url(suffix));
}

client redis_fixture::proxied_client(const std::string& suffix) {
    return client_at(proxy.url(suffix));
}

client redis_fixture::client_at(const std::string& url) {
    pawl::client_options options;
    options.log = [this](std::string_view line) { client_log.write(line); };
    return client(pawl::redis::at(url), options);
}

std::optional<failure> redis_fixture::failure_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const pawl::error& thrown) {
        client_log.write(thrown.what());
        return failure{thrown.reason(), thrown.what()};
    }
    return std::nullopt;
}

support::matcher redis_fixture::script(const pawl::redis::script& which) {
    return [&which](const support::command_words& command) {
        return command.size() > 1 && (command[1] == which.sha1 || command[1] == which.text);
    };
}

std::vector<std::string> redis_fixture::leftovers() {
    auto all = server.keys();
    std::erase_if(all, [](const std::string& key) { return key.ends_with(":f"); });
    return all;
}

std::uint64_t redis_fixture::waiters(const std::string& name) {
    return static_cast<std::uint64_t>(server.execute({"ZCARD", "pawl:{" + name + "}:q"}).number());
}

bool redis_fixture::is_held(const std::string& name) {
    return server.execute({"EXISTS", "pawl:{" + name + "}"}).number() == 1;
}

loss_recorder::loss_recorder(const held_lock& lock)
    : callback_(lock.lost(), [this] { told_at_ = boot_clock::now().time_since_epoch().count(); }) {}

bool loss_recorder::is_told_within(std::chrono::nanoseconds timeout) const {
    return eventually([this] { return told_at_ != 0; }, timeout);
}

}  // namespace chaos
