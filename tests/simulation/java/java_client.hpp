// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client of Redisson in a simulated Java program: its connection and its subscriptions, which
// all threads of the program share.
#pragma once

#include "../kernel/virtual_runtime.hpp"
#include "../server/simulated_network.hpp"
#include "java_scripts.hpp"

#include <core/util/wakeup.hpp>
#include <pawl/redis.hpp>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace pawl::simulation {

class java_client final : private redis::link::listener {
public:
    java_client(simulated_network& network, simulated_process& process, virtual_runtime& time,
                const redis::options& options, injected_bug bug);
    ~java_client();

    // Redisson repeats some scripts whose reply was lost, such as a renewal or the release of a
    // permit with a lease, but never those that acquire, nor those that unlock a lock.
    enum class retries : std::uint8_t { none, some };
    // Returns the script's reply. Throws pawl::error if there is none, or if it is an error.
    boost::asio::awaitable<redis::reply> run(java_script script, const words& keys,
                                             const words& arguments, retries allowed);
    // For a release of a Semaphore.
    [[nodiscard]] retries retries_of_release() const noexcept {
        return bug_ == injected_bug::redisson_java_release_repeated ? retries::some : retries::none;
    }
    // Sends a plain command, again if its reply is lost.
    boost::asio::awaitable<redis::reply> send(const words& command);
    // Sends a DEL. Nobody waits for its reply.
    void delete_later(std::string key);

    boost::asio::awaitable<void> subscribe(std::string channel);
    void unsubscribe(const std::string& channel) noexcept;
    // Waits for a message of the channel. Its text says how many of the waiting threads it wakes.
    boost::asio::awaitable<void> wait_for_message(std::string channel, time_point until);
    boost::asio::awaitable<void> pause(duration length);

    // All waits and requests end, and no further one begins.
    void close();
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

    // UUID:THREAD
    [[nodiscard]] std::string owner_of(std::uint64_t thread) const;
    // The key of an unlock latch, which belongs to one request.
    [[nodiscard]] std::string new_unlock_latch(const std::string& name);
    // 16 random bytes.
    [[nodiscard]] std::string new_permit_id();
    [[nodiscard]] time_point now() const noexcept { return time_.now(); }
    // The time of the scenario.
    [[nodiscard]] instant scenario_now() const noexcept { return process_.loop().now(); }
    // The clock of the Java host, which is synchronized with the server's.
    [[nodiscard]] std::int64_t wall_ms() const;
    [[nodiscard]] std::string clock_ms() const { return std::to_string(wall_ms()); }
    // Redisson decides this when it begins: whether the server knows PUBSUB SHARDNUMSUB.
    [[nodiscard]] std::string publish_command() const;
    // For the lifetime of an unlock latch: all attempts of one request.
    [[nodiscard]] duration request_period() const noexcept;

private:
    // RedissonLockEntry
    struct channel_entry {
        int subscribers = 0;
        int unread_messages = 0;
        std::deque<core::wakeup*> sleepers{};
    };

    boost::asio::awaitable<redis::reply> send_repeatedly(const words& command, int attempts);
    boost::asio::awaitable<void> delete_key(std::string key);
    boost::asio::awaitable<void> close_link();
    static void wake_one(channel_entry& entry);
    void on_message(std::string_view channel, std::string_view payload) override;
    void on_invalidate(std::string_view) override {}
    void on_connected(const redis::link&) override {}

    simulated_network& network_;
    simulated_process& process_;
    virtual_runtime& time_;
    const boost::asio::any_io_executor executor_;
    const duration reply_timeout_;
    const injected_bug bug_;
    const std::string uuid_;
    std::shared_ptr<redis::link> link_;
    std::map<std::string, channel_entry, std::less<>> entries_;
    std::set<core::wakeup*> pauses_;
    std::uint64_t request_count_ = 0;
    bool is_closed_ = false;
};

}  // namespace pawl::simulation
