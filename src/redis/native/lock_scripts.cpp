// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_scripts.hpp"

#include "../topology/epoch.hpp"
#include "../transport/link.hpp"
#include "wrong_type.hpp"

#include "../../core/util/clock_token.hpp"

namespace asio = boost::asio;

namespace pawl::redis::native {

lock_scripts::lock_scripts(server_access& access)
    : access_(access),
      scheme_(access.settings().name_space, access.settings().key, access.settings().database) {}

std::int64_t lock_scripts::wall_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               access_.time().wall_clock().time_since_epoch())
        .count();
}

// The same arithmetic as in _token.lua, with the server's clock at the time of the handshake.
short_text lock_scripts::token_floor(const session& server_session) const {
    const std::chrono::microseconds since_1970(server_session.time_us);
    const auto& replication = server_session.replication;
    short_text floor;
    floor += epoch_base(server_session.epoch) +
             core::clock_token(std::chrono::system_clock::time_point(since_1970));
    floor += " ";
    floor +=
        std::chrono::ceil<std::chrono::milliseconds>(access_.settings().token_retention).count();
    if (!replication.empty()) {
        floor += " ";
        floor += replication;
    }
    return floor;
}

// Once for each request, so it asks for the session once.
const server_words& lock_scripts::words_at(const link& asked) {
    const auto& session = asked.current();
    auto& texts = session_texts_[&asked];
    auto& words = texts.words;
    const std::chrono::microseconds since_1970(session.time_us);
    if (texts.since_1970 != since_1970 || texts.epoch != session.epoch ||
        texts.replication != session.replication) {
        words.token_floor = token_floor(session);
        texts.since_1970 = since_1970;
        texts.epoch = session.epoch;
        texts.replication = session.replication;
    }
    words.publish_command = session.publish_command();
    words.count_command = session.count_command();
    words.channel_prefix = scheme_.channel_prefix();
    if (!session.channel_tag.empty()) {
        if (texts.channel_prefix.empty())
            texts.channel_prefix = tagged_prefix(words.channel_prefix, session.channel_tag);
        words.channel_prefix = texts.channel_prefix;
    }
    // In a cluster the floor has the replication id, which serves for both.
    words.run =
        short_text(session.replication.empty() ? std::string_view(session.run_id).substr(0, 16)
                                               : std::string_view());
    return words;
}

asio::awaitable<void> lock_scripts::throw_if_lock_error(const reply& reply, const keys& lock_keys) {
    const auto typed = typed_keys_of(lock_keys);
    co_await throw_if_key_error(access_.servers(), reply, typed, access_.reply_deadline());
}

}  // namespace pawl::redis::native
