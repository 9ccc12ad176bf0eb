// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Plays the table of queue_cases.hpp with clients of the service.
#include "queue_cases.hpp"
#include "test_groups.hpp"

#include <map>
#include <stop_token>
#include <utility>

namespace pawl::conformance {

namespace {

// One letter of a script: a client of its own, in this process, or in another one that can die.
struct claimant {
    std::unique_ptr<blocking::client> client;
    std::unique_ptr<agent> process;
    blocking::held_lock lock;
    std::optional<errc> failure;
    std::atomic<bool> is_done = false;
    bool is_waiting = true;
    std::stop_source stop;
    std::unique_ptr<background_task> acquiring;  // joined first
};

class queue_player {
public:
    queue_player(fixture& service_fixture, const queue_case& tested)
        : fixture_(service_fixture),
          env_(service_fixture.make_test_service()),
          observer_(env_.target, long_tries),
          script_(tested.script),
          total_permits_(tested.total_permits) {}
    ~queue_player() {
        for (auto& [letter, each] : claimants_)
            each.stop.request_stop();
    }
    queue_player(const queue_player&) = delete;
    queue_player& operator=(const queue_player&) = delete;

    void play(const queue_action& action) {
        perform(action);
        for (const char letter : action.granted) {
            require(is_granted(claimants_.at(letter)), message(action, letter, "is not granted"));
            claimants_.at(letter).is_waiting = false;
        }
        for (const char letter : action.refused) {
            auto& refused = claimants_.at(letter);
            require(eventually([&] { return refused.is_done.load(); }),
                    message(action, letter, "gets no error"));
            require_equal(refused.failure, errc::bad_option, "the error of a refused waiter");
            refused.is_waiting = false;
        }
        require_others_wait(action);
    }

private:
    static std::string message(const queue_action& action, char letter, const char* fact) {
        return "after " + action.text + ", " + letter + " " + fact;
    }

    void perform(const queue_action& action) {
        switch (action.type) {
        case queue_action::kind::request: return request(action);
        case queue_action::kind::release:
            require_equal(claimants_.at(action.claimant).lock.release(), release_result::released,
                          "release");
            return;
        case queue_action::kind::expire: return expire(action.claimant);
        case queue_action::kind::leave: return leave(action.claimant);
        case queue_action::kind::downgrade: return claimants_.at(action.claimant).lock.downgrade();
        case queue_action::kind::resize:
            total_permits_ = action.permits;
            return observer_.resize("it", total_permits_);
        case queue_action::kind::force:
            require(observer_.force_release("it"), "force_release reported no holder");
            return;
        }
    }

    // A claimant that has released the lock may request it again.
    void request(const queue_action& action) {
        claimants_.erase(action.claimant);
        auto& added = claimants_[action.claimant];
        if (script_.find({'~', action.claimant}) != std::string::npos)
            return send_request(added, action);
        added.client = std::make_unique<blocking::client>(env_.target, long_tries);
        lock_options options{.ttl = long_ttl, .wait = wait_bound, .mode = action.mode};
        options.fair = true;
        if (action.mode == lock_mode::permits) {
            options.permits = action.permits;
            options.total_permits = total_permits_;
        }
        added.acquiring = std::make_unique<background_task>([&added, options] {
            try {
                added.lock = added.client->acquire("it", options, added.stop.get_token());
            } catch (const error& failed) {
                added.failure = failed.reason();
            }
            added.is_done = true;
        });
    }

    void send_request(claimant& added, const queue_action& action) {
        added.process = std::make_unique<agent>(env_);
        const std::string ttl = milliseconds_text(supported_ttl(fixture_, 2s));
        const std::string mode = action.mode == lock_mode::exclusive ? "fair"
                                 : action.mode == lock_mode::shared  ? "shared"
                                                                     : "permits";
        added.process->send("take " + mode + " it " + ttl + " forever " +
                            std::to_string(action.permits) + " " + std::to_string(total_permits_));
    }

    void expire(char letter) {
        auto& ended = claimants_.at(letter);
        ended.process->process().kill_and_reap();
        dead_waiters_ += std::exchange(ended.is_waiting, false) ? 1 : 0;
    }

    void leave(char letter) {
        auto& leaving = claimants_.at(letter);
        leaving.stop.request_stop();
        leaving.acquiring->get_soon("a cancelled wait");
        require_equal(leaving.failure, errc::cancelled, "the error of a waiter that leaves");
        leaving.is_waiting = false;
    }

    static bool is_granted(claimant& expected) {
        if (expected.process) return expected.process->read_reply(wait_bound).starts_with("held ");
        return eventually([&] { return expected.is_done.load(); }) && expected.lock;
    }

    // The count of waiters shows that the service has carried out the action. A dead waiter may be
    // counted until the queue is served.
    void require_others_wait(const queue_action& action) {
        std::uint64_t waiters = 0;
        for (auto& [letter, each] : claimants_)
            waiters += each.is_waiting ? 1U : 0U;
        if (std::exchange(dead_waiters_, 0) == 0)
            require(has_waiters(fixture_, observer_, "it", waiters),
                    "after " + action.text + ", the count of waiters is not " +
                        std::to_string(waiters));
        for (auto& [letter, each] : claimants_)
            require(!each.is_waiting || !each.is_done,
                    message(action, letter, "does not wait any more"));
    }

    fixture& fixture_;
    const test_service env_;
    blocking::client observer_;
    const std::string script_;
    std::uint32_t total_permits_;
    int dead_waiters_ = 0;
    std::map<char, claimant> claimants_;
};

template <std::size_t Number>
bool has_rules_of(const capabilities& supported) {
    const auto& tested = queue_cases[Number];
    const auto has = [&](char sign) { return tested.script.find(sign) != std::string_view::npos; };
    return supported.strictly_fair && supported.modes_share_queue && supported.hands_over &&
           (supported.shared || (!has('S') && !has('>'))) && (supported.downgrades || !has('>')) &&
           (supported.permits || tested.total_permits == 0) &&
           (supported.across_processes || !has('~'));
}

template <std::size_t Number>
void play_case(fixture& service_fixture) {
    queue_player player(service_fixture, queue_cases[Number]);
    for (const auto& action : actions_of(queue_cases[Number]))
        player.play(action);
}

template <std::size_t... Numbers>
constexpr std::array<test_case, sizeof...(Numbers)> make_tests(std::index_sequence<Numbers...>) {
    return {test_case{queue_cases[Numbers].name, has_rules_of<Numbers>, play_case<Numbers>}...};
}

constexpr auto list = make_tests(std::make_index_sequence<queue_cases.size()>());

}  // namespace

std::span<const test_case> queue_rule_tests() noexcept { return list; }

}  // namespace pawl::conformance
