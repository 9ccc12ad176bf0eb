// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Finds the master that a majority of the Sentinels names, and notices when they name another one.
#pragma once

#include "core/util/spi.hpp"
#include "vote.hpp"

#include "../transport/link.hpp"
#include "../transport/locator.hpp"

#include "../../core/util/fork_mark.hpp"
#include "../../core/util/wakeup.hpp"

#include <pawl/error.hpp>
#include <pawl/redis.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::redis {

struct sentinel_limits {
    // The Sentinels announce each failover. This finds one whose announcement was lost.
    duration check_interval = std::chrono::seconds(10);
    // The least time between two queries of a Sentinel, whatever it announces.
    duration min_pause = std::chrono::milliseconds(50);
    // The pause after a Sentinel that did not answer.
    duration retry_pause = std::chrono::seconds(1);
    // More Sentinels than these are not asked. A majority of all is needed all the same.
    std::size_t max_sentinels = 16;
};

// Connects to one Sentinel, and subscribes to the channel.
using sentinel_link_factory = std::function<std::shared_ptr<link>(
    const net::endpoint& server, link::listener& receiver, const std::string& channel)>;

// Used on one strand. Asks all Sentinels at once, from the first call of `next` until `stop`.
class sentinel_locator final : public locator,
                               private link::listener,
                               public std::enable_shared_from_this<sentinel_locator> {
public:
    sentinel_locator(const options& server_options, backend_context context,
                     sentinel_link_factory connect, const sentinel_limits& bounds = {});
    ~sentinel_locator() override;
    sentinel_locator(const sentinel_locator&) = delete;
    sentinel_locator& operator=(const sentinel_locator&) = delete;

    // Calls `moved` with the reason when the master is another one, or has another epoch, than the
    // location that `next` returned last.
    void on_moved(std::function<void(std::string)> moved) { moved_ = std::move(moved); }

    // Throws errc::no_quorum if no majority agrees, errc::bad_option if the Sentinels do not know
    // the master and it was never located, and what they all refuse.
    boost::asio::awaitable<location> next(time_point give_up_at) override;
    boost::asio::awaitable<bool> confirm(const location& connected, time_point give_up_at) override;
    void stop() noexcept override;
    [[nodiscard]] std::string progress() const override;
    [[nodiscard]] std::string advice() const override;
    // Closes the connections, after `stop`.
    boost::asio::awaitable<void> close(time_point give_up_at);

    // The newest answer of one Sentinel.
    struct status {
        std::string node;  // HOST:PORT
        std::optional<sentinel_view> view;
        std::string failure;  // why there is no view, as the end of a sentence about the Sentinel
        std::string advice;   // empty: none
    };
    [[nodiscard]] std::vector<status> statuses() const;
    // How many Sentinels must agree, as far as they are known.
    [[nodiscard]] std::size_t needed_votes() const;

private:
    struct sentinel {
        // Makes its timers now: it is asked again also when there is no memory.
        sentinel(net::endpoint known_server, bool is_discovered, const backend_context& context)
            : server(std::move(known_server)),
              was_discovered(is_discovered),
              ask_again(*context.time, context.strand),
              short_pause(*context.time, context.strand) {
            ask_again.prepare();
            short_pause.prepare();
        }
        const net::endpoint server;
        const bool was_discovered;  // it is not in the URL
        std::shared_ptr<link> connection;
        core::wakeup ask_again;
        core::wakeup short_pause;
        bool is_dropped = false;
        bool is_being_asked = false;
        std::uint64_t answered_round = 0;  // in which its newest answer was asked for
        std::optional<sentinel_view> view;
        std::optional<error> failure;
    };

    void on_message(std::string_view channel, std::string_view payload) override;
    void on_invalidate(std::string_view) override {}
    void on_connected(const link& connected_link) override;

    [[nodiscard]] status status_of(const sentinel& asked) const;
    void add_sentinel(net::endpoint server, bool was_discovered);
    // Connects to the members that are not in the URL.
    void add_members();
    // Makes room by forgetting a discovered Sentinel that does not answer.
    [[nodiscard]] bool make_room();
    void begin_round();
    // Ends the pauses of all Sentinels' queries.
    void ask_all();
    // The Sentinel is not asked any more.
    [[nodiscard]] bool is_over(const sentinel& watched) const {
        return is_stopped_ || watched.is_dropped || made_in_.is_forked();
    }
    boost::asio::awaitable<void> watch(std::shared_ptr<sentinel_locator> self,
                                       std::shared_ptr<sentinel> watched);
    // Reports another master to `moved_`.
    void follow_switch() noexcept;
    // Of the answers to this round or a later one.
    [[nodiscard]] std::vector<const sentinel_view*> views_since(std::uint64_t round) const;
    [[nodiscard]] bool all_answered(std::uint64_t round) const;
    // What a Sentinel refuses, if the Sentinels that do not refuse the client are no majority; else
    // null.
    [[nodiscard]] const error* majority_refusal() const;
    // By the answers to this round or a later one.
    [[nodiscard]] error no_master_error(std::uint64_t round) const;
    [[nodiscard]] std::string disagreement(std::uint64_t round) const;
    // With an epoch that a token can hold, and that is not below an earlier one.
    [[nodiscard]] location checked(location elected);
    void log(const std::string& line) const {
        if (context_.log) context_.log(subject_ + ": " + line);
    }

    const core::fork_mark made_in_;
    const options options_;
    const sentinels set_;  // as the options name them
    const std::string subject_;
    const backend_context context_;
    const sentinel_link_factory connect_;
    const sentinel_limits bounds_;
    std::function<void(std::string)> moved_;
    std::list<std::shared_ptr<sentinel>> sentinels_;
    std::list<core::wakeup*> answer_waiters_;  // the calls of `next`
    std::uint64_t round_ = 0;
    std::optional<location> located_;  // what `next` returned last
    bool has_located_ = false;         // `next` has returned a location
    std::uint64_t highest_epoch_ = 0;
    bool is_stopped_ = false;
};

}  // namespace pawl::redis
