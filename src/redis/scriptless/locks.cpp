// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "../common/values.hpp"
#include "../transport/server_errors.hpp"

#include "../../core/util/random.hpp"

#include <array>

namespace asio = boost::asio;

namespace pawl::redis::scriptless {
namespace {

// A server without the option answers "ERR syntax error".
error no_condition_error(const session& asked, std::string_view key) {
    const auto server = asked.server + (asked.version.empty() ? "" : " " + asked.version);
    return {errc::unsupported,
            std::string(key) + ": this server (" + server +
                ") has no SET with the option IFEQ, which scripts=no needs; use Valkey 8.1, Redis "
                "8.4 or later, or leave scripts=no out of the URL."};
}

void throw_if_unconditional(const reply& answer, const link& asked, std::string_view key) {
    if (answer.type == reply::kind::error && answer.text.starts_with("ERR syntax error"))
        throw no_condition_error(asked.current(), key);
}

// A time in the past deletes the key at once. Every server with the condition has this, while
// DELIFEQ and DELEX are commands of different servers.
std::array<std::string_view, 7> words_of_deletion(std::string_view key, std::string_view value) {
    return {"SET", key, value, "IFEQ", value, "PXAT", "1"};
}

}  // namespace

std::unique_ptr<backend> make_backend(const options& server_options, const backend_context& context,
                                      const topology_factory& connect, const limits& bounds) {
    return std::make_unique<locks>(server_options, context, connect, bounds);
}

locks::locks(const options& server_options, backend_context context,
             const topology_factory& connect, const limits& bounds)
    : lock_base(server_options, std::move(context), connect, "", bounds),
      scheme_(options_.name_space, options_.key, options_.database),
      prefix_without_owner_(
          make_value_prefix("", core::random_hex(*context_.time, 8), context_.process)) {}

void locks::on_connected(const link& connected_link) {
    watch_.report_if_other_server(connected_link);
    undos_.of(connected_link).retry_now();
}

std::string locks::unreachable_reason(std::string_view name) const {
    return link_of(scheme_.keys_of(name)).connection_failure();
}

// A release only deletes the key, and every waiter polls.
spi::capabilities locks::capabilities() const noexcept {
    spi::capabilities result;
    result.hands_over = result.modes_share_queue = false;
    result.order = fairness::none;
    result.replica_durability = result.disk_durability = true;
    return result;
}

std::string locks::capability_hint(lock_mode, bool) const {
    return "that needs scripts, so leave scripts=no out of the URL if the server allows them";
}

asio::awaitable<answer> locks::extend(topology& servers, std::string_view key,
                                      std::string_view value, duration ttl,
                                      time_point give_up_at) const {
    const auto ttl_ms = milliseconds_text(ttl);
    const std::array<std::string_view, 7> words{"SET", key, value, "IFEQ", value, "PX", ttl_ms};
    co_return co_await exec_at(servers, key, words, give_up_at);
}

asio::awaitable<reply> locks::delete_value(std::string_view key, std::string_view value,
                                           time_point give_up_at) const {
    const auto words = words_of_deletion(key, value);
    co_return co_await exec_at(*servers_, key, words, give_up_at);
}

// Asks to delete a value that nobody has written, which changes nothing.
asio::awaitable<void> locks::check_key(const keys& lock_keys, time_point give_up_at) {
    const auto unused_value = core::random_hex(time(), 16);
    const auto answer = co_await delete_value(lock_keys.lock(), unused_value, give_up_at);
    throw_if_error(answer, std::string(lock_keys.lock()));
}

// The words, or first of all on a new connection, a check of its server.
struct locks::checked_command {
    locks& parent;
    acquire_attempt& undo_guard;
    const link& asked;
    std::span<const std::string_view> text;  // SET, the key, and so on
    std::uint64_t connection;
    bool is_check;

    [[nodiscard]] std::span<const std::string_view> words() const noexcept { return text; }
    [[nodiscard]] bool must_repeat(const reply& received) {
        const bool is_refused = received.type == reply::kind::error;
        if (is_refused && parent.servers_->may_follow(received))
            undo_guard.set_state(acquire_attempt::state::settled);
        if (!is_check) return false;
        throw_if_unconditional(received, asked, text[1]);
        if (is_refused) return false;
        parent.checked_connections_[&asked] = connection;
        return true;
    }
};

asio::awaitable<reply> locks::set_at_checked_server(acquire_attempt& undo_guard,
                                                    const keys& lock_keys,
                                                    std::span<const std::string_view> words,
                                                    time_point give_up_at, time_point& sent_at) {
    std::string unused_value;
    std::array<std::string_view, 7> check{};
    const auto compose_command = [&](const link& asked) {
        const auto connection = asked.current().connection_number;
        const auto known = checked_connections_.find(&asked);
        const bool is_checked = known != checked_connections_.end() && known->second == connection;
        if (is_checked) {
            check_room_for_undo(asked);
            undo_guard.about_to_send(undos_.of(asked));
            sent_at = now();
        } else {
            unused_value = core::random_hex(time(), 16);
            check = words_of_deletion(lock_keys.lock(), unused_value);
        }
        return checked_command{*this,      undo_guard, asked, is_checked ? words : check,
                               connection, !is_checked};
    };
    co_return co_await follow_key(*servers_, lock_keys.lock(), give_up_at, compose_command);
}

// Asks to delete a value that nobody has written, which changes nothing.
asio::awaitable<void> locks::check_server(link& asked, std::string_view key,
                                          time_point give_up_at) {
    const auto unused_value = core::random_hex(time(), 16);
    const auto words = words_of_deletion(key, unused_value);
    const auto reply = co_await asked.exec(words, give_up_at);
    throw_if_unconditional(reply, asked, key);
    throw_if_error(reply, std::string(key));
}

}  // namespace pawl::redis::scriptless
