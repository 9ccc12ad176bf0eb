#include "locks.hpp"

#include "options.hpp"
#include "redis_scripts.hpp"
#include "values.hpp"

#include "../core/chance.hpp"
#include "../core/clock_token.hpp"

#include <array>
#include <charconv>

namespace pawl::redis {
namespace {

std::string_view take_word(std::string_view& text) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

}  // namespace

std::unique_ptr<backend> make_backend(const options& where, const backend_context& context,
                                      const link_factory& connect, const limits& bounds) {
    return std::make_unique<locks>(where, context, connect, bounds);
}

locks::locks(const options& where, backend_context context, const link_factory& connect,
             const limits& bounds)
    : locks(where, context, connect, bounds, core::random_hex(*context.time, 8)) {}

locks::locks(const options& where, backend_context context, const link_factory& connect,
             const limits& bounds, std::string client)
    : lock_base(where, std::move(context), connect,
                key_scheme(where.name_space, where.key, where.database).channel_prefix() + client,
                bounds),
      scheme_(where.name_space, where.key, where.database),
      client_(std::move(client)),
      channel_(scheme_.channel_prefix() + client_),
      value_end_(value_prefix("", client_, context_.who)),
      latches_(where_, context_, scheme_, *link_, bounds_) {}

std::int64_t locks::wall_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time().wall().time_since_epoch())
        .count();
}

// The same arithmetic as _token.lua, on the server's clock when the connection was made.
std::string locks::floor() const {
    const std::chrono::microseconds since_1970(link_->current().time_us);
    const auto lowest = core::clock_token(std::chrono::system_clock::time_point(since_1970));
    return std::to_string(lowest) + ' ' + milliseconds(where_.token_retention);
}

void locks::on_message(std::string_view channel, std::string_view payload) {
    if (channel != channel_) return latches_.on_message(channel, payload);
    const auto verb = take_word(payload);
    const auto owner = take_word(payload);
    if (verb == "lost") {
        // In one read with its grant, before the waiter has run: it has nothing, and waits on.
        auto* to = waiters_.by_owner(owner);
        if (to == nullptr || !to->given) return context_.listener->lost(owner, loss_reason::forced);
        to->given.reset();
        to->granted_server_ms = -1;
        to->woken.ring();
    } else if (verb == "grant") {
        // A waiter that has left took care: its leaving passes the lock on.
        auto* to = waiters_.by_owner(owner);
        if (to == nullptr || to->given) return;
        const auto token = take_word(payload);
        std::int64_t server_ms = 0;
        const auto parsed =
            std::from_chars(payload.data(), payload.data() + payload.size(), server_ms);
        if (parsed.ec != std::errc{} || server_ms < 0) return;
        to->given = pushed_grant(*to, token, server_ms, now());
        to->granted_server_ms = server_ms;
        to->woken.ring();
    }
}

void locks::on_invalidate(std::string_view key) { waiters_.ring_key(key); }

// What was pushed meanwhile is gone: every waiter looks, which also gives it its place back.
void locks::on_connected(const session&) {
    undos_->try_now();
    waiters_.ring_all();
    latches_.on_connected();
}

promises locks::promised() const noexcept {
    promises made;
    made.loss_is_pushed = true;
    made.shared = made.permits = made.strictly_fair = made.downgrades = true;
    made.chosen_values = made.several = true;
    made.latches = made.barriers = true;
    return made;
}

}  // namespace pawl::redis
