// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Exclusive locks without scripts, in the keys of the native layout. The members are in
// acquire.cpp, token.cpp, release.cpp and admin.cpp; docs/backends/scriptless.md describes the
// protocol.
#pragma once

#include "../common/acquire_attempt.hpp"
#include "../common/backends.hpp"
#include "../common/keys.hpp"
#include "../common/lock_base.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis::scriptless {

class locks final : public lock_base {
public:
    locks(const options& server_options, backend_context context, const topology_factory& connect,
          const limits& bounds);

    boost::asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                         time_point give_up_at) override;
    boost::asio::awaitable<release_result> release(const hold& held) override;
    boost::asio::awaitable<lock_info> inspect(std::string_view name) override;
    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override;
    boost::asio::awaitable<bool> force_release(std::string_view name,
                                               fencing_token expected) override;
    boost::asio::awaitable<examination> examine() override;
    std::string unreachable_reason(std::string_view name) const override;
    spi::capabilities capabilities() const noexcept override;
    std::string capability_hint(lock_mode mode, bool fair) const override;

private:
    // What an attempt writes, and what its undo looks for.
    struct written_value {
        keys lock_keys;
        std::string value;  // no other attempt writes this value
    };

    boost::asio::awaitable<void> renew_at(topology& servers, renewal_batch& batch) override;
    std::string key_of(std::string_view name) const override {
        return std::string(scheme_.keys_of(name).lock());
    }
    [[nodiscard]] link& link_of(const keys& lock_keys) const noexcept {
        return servers_->link_of(lock_keys.lock());
    }

    [[nodiscard]] std::shared_ptr<const written_value> make_written_value(
        const claim& requested, std::string_view owner) const;
    [[nodiscard]] undo_queue::undo undo_of(std::shared_ptr<const written_value> written);
    // One attempt. Empty: another value is there.
    boost::asio::awaitable<std::optional<grant>> take_free_lock(acquire_attempt& undo_guard,
                                                                const written_value& written,
                                                                const claim& requested,
                                                                time_point give_up_at);
    // The token of a hold that has just begun. Empty: the hold has ended. Sets `sent_at` to the
    // time from which the lease counts anew.
    boost::asio::awaitable<std::optional<fencing_token>> take_token(const written_value& written,
                                                                    duration ttl,
                                                                    time_point give_up_at,
                                                                    time_point& sent_at);
    // Sends the command about the fence counter, and returns the number in its reply.
    boost::asio::awaitable<std::int64_t> count(const keys& lock_keys,
                                               std::span<const std::string_view> words,
                                               time_point give_up_at);
    // Raises the counter above the server's clock. `token` is the number that was taken from it.
    boost::asio::awaitable<std::int64_t> raise_token(const keys& lock_keys, std::int64_t token,
                                                     time_point give_up_at);
    // Lets the counter expire `token_retention` after the time that its number means.
    boost::asio::awaitable<void> keep_counter(std::string fence, std::int64_t token,
                                              std::uint64_t epoch);
    // The number that tokens of this server must exceed: its clock when the connection was made.
    [[nodiscard]] std::int64_t token_floor(const keys& lock_keys) const;
    // The same number for the server's clock at present.
    boost::asio::awaitable<std::int64_t> present_floor(const keys& lock_keys,
                                                       time_point give_up_at);
    // Replies OK if the key has the value, and nil otherwise.
    [[nodiscard]] boost::asio::awaitable<answer> extend(topology& servers, std::string_view key,
                                                        std::string_view value, duration ttl,
                                                        time_point give_up_at) const;
    // Deletes the key if it has the value. Replies OK if it had, and nil otherwise.
    [[nodiscard]] boost::asio::awaitable<reply> delete_value(std::string_view key,
                                                             std::string_view value,
                                                             time_point give_up_at) const;
    // As `exec_at` for the lock's key, but only at servers that have SET with a condition. Throws
    // errc::unsupported at others. `sent_at` is set to the time of the last request.
    struct checked_command;
    boost::asio::awaitable<reply> set_at_checked_server(acquire_attempt& undo_guard,
                                                        const keys& lock_keys,
                                                        std::span<const std::string_view> words,
                                                        time_point give_up_at, time_point& sent_at);
    // Throws errc::unsupported if the server has no SET with a condition, and as `throw_if_error`.
    boost::asio::awaitable<void> check_server(link& asked, std::string_view key,
                                              time_point give_up_at);
    [[nodiscard]] std::string key_at(const link& server_link) const;
    // Throws errc::wrong_type if the key holds something else than a string.
    boost::asio::awaitable<void> check_key(const keys& lock_keys, time_point give_up_at);
    boost::asio::awaitable<void> renew_hold(topology& servers, renewal_batch& batch,
                                            std::size_t index);
    boost::asio::awaitable<void> release_later(hold held);
    struct stored_lock {
        std::string value;         // its beginning, if it is long
        std::int64_t left_ms = 0;  // negative: never expires
        fencing_token token{};
    };
    boost::asio::awaitable<std::optional<stored_lock>> read_lock(const keys& lock_keys);
    boost::asio::awaitable<std::optional<stored_lock>> read_with_token(const keys& lock_keys);

    void on_message(std::string_view, std::string_view) override {}
    void on_invalidate(std::string_view) override {}
    void on_connected(const link& connected_link) override;

    const key_scheme scheme_;
    const std::string prefix_without_owner_;  // what follows the owner in a value's prefix
    // Of each link, the last connection whose server is known to have SET with a condition.
    std::map<const link*, std::uint64_t> checked_connections_;
};

}  // namespace pawl::redis::scriptless
