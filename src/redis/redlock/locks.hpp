// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Exclusive locks and readers over a majority of nodes. The members are in acquire.cpp,
// attempts.cpp, waiting.cpp, renew.cpp, release.cpp and admin.cpp; docs/backends/redlock.md
// describes the protocol.
#pragma once

#include "attempt.hpp"
#include "backend.hpp"
#include "members.hpp"
#include "round_owners.hpp"

#include "../common/keys.hpp"
#include "../common/lock_base.hpp"
#include "../redisson/names.hpp"

#include <pawl/redlock.hpp>

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {

class node_failures;

class locks final : public redis::lock_base, private background {
public:
    locks(const options& node_options, backend_context context,
          const std::vector<redis::topology_factory>& nodes, const redis::limits& bounds);

    boost::asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                         time_point give_up_at) override;
    boost::asio::awaitable<std::vector<grant>> acquire_batch(std::span<const claim> claims,
                                                             time_point give_up_at) override;
    boost::asio::awaitable<release_result> release(const hold& held) override;
    boost::asio::awaitable<std::optional<grant>> downgrade(const hold& held) override;
    boost::asio::awaitable<lock_info> inspect(std::string_view name) override;
    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override;
    boost::asio::awaitable<bool> force_release(std::string_view name,
                                               fencing_token expected) override;
    boost::asio::awaitable<examination> examine() override;
    boost::asio::awaitable<void> close(time_point give_up_at) override;
    // A round of renewals itself asks the nodes again and again until the deadline.
    std::size_t unanswered_renewals() const noexcept override { return 1; }
    std::string unreachable_reason(std::string_view name) const override;
    pawl::capabilities capabilities() const noexcept override;
    std::string capability_hint(lock_mode mode, bool fair) const override;

    // The nodes, for operators.
    [[nodiscard]] members& set() noexcept { return members_; }

private:
    locks(const options& node_options, backend_context context,
          const std::vector<redis::topology_factory>& nodes, const redis::limits& bounds,
          std::string client);

    // What became of an attempt.
    struct attempt_result {
        std::vector<grant> grants{};     // empty: none
        std::optional<error> trouble{};  // too few nodes answered; otherwise the locks were taken
        // When a majority may be free, if nobody renews; nothing if that is not known.
        std::optional<time_point> free_at{};
        bool is_in_line = false;  // of a node, if the attempt waits
        // Nobody else is known to hold a majority: attempts were made at the same time.
        std::optional<error> split{};
        std::optional<std::string> first_rank{};  // for which the nodes were given back
        duration took{};
    };
    // One acquire, over all its attempts.
    struct acquire_try;
    // The error of an attempt, with the time from which another one may succeed, if that is known.
    [[nodiscard]] error may_be_repeated(const error& trouble) const;
    [[nodiscard]] time_point next_attempt_after(const attempt_result& failed,
                                                core::back_off& poll_pauses);
    boost::asio::awaitable<attempt_result> try_all_nodes(std::vector<requested_lock> requested,
                                                         duration ttl, bool waits,
                                                         time_point ends_by,
                                                         const precedence& known);
    void send_to_node(const std::shared_ptr<attempt>& current, std::size_t node);
    boost::asio::awaitable<void> ask_for_locks(std::shared_ptr<attempt> current, std::size_t node);
    // False: nothing is to be confirmed at this node. True: `confirm_at` must follow.
    [[nodiscard]] static bool begin_confirmation(attempt& current, std::size_t node);
    // Raises the node's counters to the tokens.
    boost::asio::awaitable<void> confirm_at(std::shared_ptr<attempt> current, std::size_t node);
    void handle_answer(const std::shared_ptr<attempt>& current, std::size_t node,
                       acquire_call::answer answer);
    void start_confirmations(const std::shared_ptr<attempt>& current);
    boost::asio::awaitable<void> decide(std::shared_ptr<attempt> current, const precedence& known);
    struct split_step {
        bool gives_up = false;
        bool is_split = false;
        time_point wait_until = time_point::max();
    };
    // Gives up if another holder has the locks, or comes before this attempt.
    [[nodiscard]] split_step next_step_of_split(const std::shared_ptr<attempt>& current,
                                                const precedence& known);
    time_point ask_again(const std::shared_ptr<attempt>& current);
    // How long a try without a wait goes on if the nodes are split.
    [[nodiscard]] duration longest_try() const noexcept;
    boost::asio::awaitable<void> wait_for_reasons(std::shared_ptr<attempt> current);
    [[nodiscard]] bool has_all_answers(const attempt& current) const;
    [[nodiscard]] attempt_result result_of(const attempt& current) const;
    [[nodiscard]] std::vector<std::string> answers_of(const attempt& current) const;
    [[nodiscard]] error split_error(const attempt& current) const;
    [[nodiscard]] error no_quorum_error(const attempt& current) const;

    struct forced_round;
    boost::asio::awaitable<void> read_counter_at(const redis::keys& lock_keys, std::size_t node,
                                                 forced_round& round);
    boost::asio::awaitable<void> raise_counters(const requested_lock& lock, std::int64_t limit);
    boost::asio::awaitable<void> raise_counter_at(const requested_lock& lock, std::int64_t limit,
                                                  std::size_t node, forced_round& round);
    // False: the node has refused to take part.
    bool add_to_round(std::size_t node, const standing_reply& answer, forced_round& round);
    void require_part_of_majority(const forced_round& round, std::string_view name) const;
    boost::asio::awaitable<bool> has_holder(std::string_view name, fencing_token token);
    [[nodiscard]] requested_lock make_lock(const claim& wanted, std::string_view owner) const;
    [[nodiscard]] requested_lock lock_of(const hold& held) const;
    [[nodiscard]] requested_lock lock_with(std::string_view name, std::string value,
                                           lock_mode mode = lock_mode::exclusive) const;
    // How long a node may take to answer before the others decide.
    [[nodiscard]] duration node_timeout(duration ttl) const;

    // A waiting acquire, for the messages of the nodes.
    class waiter {
    public:
        waiter(locks& owner, const std::string& name);
        ~waiter();
        waiter(const waiter&) = delete;
        waiter& operator=(const waiter&) = delete;
        core::wakeup woken;
        bool may_be_in_line = false;  // of a node
        bool was_granted = false;

    private:
        locks& owner_;
        const std::multimap<std::string, waiter*, std::less<>>::iterator position_;
    };
    // Takes this client out of the line at every node, and passes on a message that it may have
    // got.
    void leave_line(const std::string& name);
    boost::asio::awaitable<void> leave_at(std::shared_ptr<const requested_lock> lock,
                                          std::size_t node);

    boost::asio::awaitable<void> renew_at(redis::topology& servers, renewal_batch& batch) override;
    struct renewal_round;
    class round_mark;
    // Before the hold is released.
    void end_renewals_of(const hold& released) noexcept;
    boost::asio::awaitable<void> renew_round(std::shared_ptr<renewal_round> round);
    // Asks the node until it has decided about each hold, with pauses.
    boost::asio::awaitable<void> renew_at_node(std::shared_ptr<renewal_round> round,
                                               std::size_t node);
    // True: a node has refused a renewal as too late, and its clock is known by now.
    boost::asio::awaitable<bool> ask_for_renewals(std::shared_ptr<renewal_round> round,
                                                  std::size_t node,
                                                  std::vector<std::size_t> positions);
    std::string key_of(std::string_view name) const override {
        return std::string(scheme_.keys_of(name).lock());
    }

    // Counts a request to a node for whose end `close` waits.
    class request_guard {
    public:
        request_guard(locks& owner, std::size_t node) noexcept : owner_(owner), node_(node) {
            ++owner_.requests_in_flight_[node_];
        }
        ~request_guard() {
            --owner_.requests_in_flight_[node_];
            owner_.request_ended_.notify();
        }
        request_guard(const request_guard&) = delete;
        request_guard& operator=(const request_guard&) = delete;

    private:
        locks& owner_;
        const std::size_t node_;
    };
    // No node that answers has a request or an undo pending.
    [[nodiscard]] bool is_idle();

    struct release_round;
    [[nodiscard]] bool is_decided(const release_round& round) const;
    boost::asio::awaitable<void> release_at(std::shared_ptr<release_round> round, std::size_t node);
    using shared_locks = std::shared_ptr<const std::vector<requested_lock>>;
    // Deletes the locks at that node, if they still have these values.
    [[nodiscard]] redis::undo_queue::undo undo_of(shared_locks requested,
                                                  std::shared_ptr<const std::string> token,
                                                  std::size_t node);
    boost::asio::awaitable<redis::reply> send_release(shared_locks requested,
                                                      std::shared_ptr<const std::string> token,
                                                      std::size_t node, time_point give_up_at);

    struct node_view;
    boost::asio::awaitable<void> inspect_at(const redis::keys& lock_keys, std::size_t node,
                                            node_view& into);
    boost::asio::awaitable<std::vector<node_view>> inspect_all(const redis::keys& lock_keys);
    boost::asio::awaitable<void> scan_at(const std::string& glob, std::size_t node,
                                         std::set<std::string>& into, node_failures& failures);
    boost::asio::awaitable<void> require_majority();
    void require_answers(const node_failures& failures, const std::string& consequence) const;

    void spawn(boost::asio::awaitable<void> operation) override;
    boost::asio::awaitable<void> run_spawned(boost::asio::awaitable<void> operation);
    boost::asio::awaitable<void> join(
        std::vector<boost::asio::awaitable<void>> operations) override {
        return run_all(std::move(operations));
    }
    boost::asio::awaitable<bool> pause_until(time_point when) override;

    void on_forced_release(std::string_view owner, std::string_view run);
    void on_message(std::string_view channel, std::string_view payload) override;
    void on_invalidate(std::string_view) override {}
    void on_connected(const redis::link& connected_link) override;
    void on_disconnected(const redis::link& ended) noexcept override {
        members_.on_disconnected(ended);
    }

    const options redlock_options_;
    const redis::key_scheme scheme_;
    const redis::redisson::naming redisson_names_;  // of the layout `redisson`
    const std::string client_;                      // 16 hex digits
    const std::string prefix_without_owner_;        // what follows the owner in a value's prefix
    const set_parameters set_;
    members members_;
    std::multimap<std::string, waiter*, std::less<>> waiters_;
    round_owners owners_;
    std::list<attempt*> attempts_;              // that are not decided yet
    std::vector<unsigned> requests_in_flight_;  // of each node
    [[nodiscard]] std::string node_time_text(std::size_t node, time_point when) const;

    std::list<renewal_round*> renewal_rounds_;      // whose calls have not ended
    std::vector<std::size_t> unanswered_renewals_;  // requests, of each node
    core::wakeup request_ended_;
    // Of owners whose holds are being ended by force, the nodes that have said so. With more of
    // them the messages of some are forgotten, and their renewals find the loss.
    static constexpr std::size_t max_forced_releases = 1024;
    std::map<std::string, std::set<std::size_t>> forced_releases_;
};

}  // namespace pawl::redlock
