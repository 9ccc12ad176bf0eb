// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "../common/server_access.hpp"
#include "../common/values.hpp"
#include "../transport/server_errors.hpp"

#include "../../core/util/random.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redis::scriptless {
namespace {

// Other errors may be those of a proxy, and the server may have executed the command.
bool is_refused(const reply& answer) {
    return answer.type == reply::kind::error &&
           (proves_no_change(answer.text) || answer.text.starts_with("NOPERM"));
}

}  // namespace

std::shared_ptr<const locks::written_value> locks::make_written_value(
    const claim& requested, std::string_view owner) const {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(
        time().wall_clock().time_since_epoch());
    return std::make_shared<const written_value>(
        written_value{scheme_.keys_of(requested.name),
                      make_value(std::string(owner) + prefix_without_owner_, since.count())});
}

undo_queue::undo locks::undo_of(std::shared_ptr<const written_value> written) {
    undo_queue::undo undo;
    undo.lock = written->lock_keys.lock();
    undo.send = [this, written = std::move(written)](time_point deadline) {
        return delete_value(written->lock_keys.lock(), written->value, deadline);
    };
    return undo;
}

// A server without scripts has no queue, so the core polls.
asio::awaitable<std::optional<grant>> locks::acquire(const claim& requested,
                                                     time_point give_up_at) {
    const bool is_blocking = give_up_at > now();
    const auto written = make_written_value(requested, requested.owner);
    acquire_attempt undo_guard(undo_of(written), requested.ttl);
    try {
        const auto deadline = reply_deadline(is_blocking, give_up_at);
        auto result = co_await take_free_lock(undo_guard, *written, requested, deadline);
        // The refusal does not tell a held lock from another program's data.
        if (!result && !requested.was_taken) co_await check_key(written->lock_keys, deadline);
        co_return result;
    } catch (const connection_lost& e) {
        throw lock_unreachable(requested.name, e.what());
    }
}

asio::awaitable<std::optional<grant>> locks::take_free_lock(acquire_attempt& undo_guard,
                                                            const written_value& written,
                                                            const claim& requested,
                                                            time_point give_up_at) {
    const auto key = written.lock_keys.lock();
    // Allocated before the request, so that a granted request cannot fail for want of memory.
    std::optional<grant> result(std::in_place);
    result->stored_value = written.value;
    const auto ttl_ms = milliseconds_text(requested.ttl);
    const std::array<std::string_view, 6> words{"SET", key, written.value, "NX", "PX", ttl_ms};
    time_point sent_at;
    const auto answer =
        co_await set_at_checked_server(undo_guard, written.lock_keys, words, give_up_at, sent_at);
    if (answer.type == reply::kind::nil || is_refused(answer))
        undo_guard.set_state(acquire_attempt::state::settled);
    throw_if_error(answer, std::string(key));
    if (answer.type == reply::kind::nil) co_return std::nullopt;
    if (requested.fenced) {
        const auto token = co_await take_token(written, requested.ttl, give_up_at, sent_at);
        if (!token) co_return std::nullopt;
        result->token = *token;
    }
    undo_guard.set_state(acquire_attempt::state::settled);
    result->deadline = sent_at + requested.ttl - drift(requested.ttl);
    co_return result;
}

}  // namespace pawl::redis::scriptless
