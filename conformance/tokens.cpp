// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

namespace pawl::conformance {

namespace {

// Remembers the newest token, and fails if a token is not later.
class token_order {
public:
    void require_later(fencing_token token, const std::string& event) {
        require(static_cast<bool>(token), "no token after " + event);
        require(token > newest_, "the token after " + event + " is " + to_string(token) +
                                     ", not later than " + to_string(newest_));
        newest_ = token;
    }

private:
    fencing_token newest_;
};

void tokens_grow_over_releases(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    token_order newest;
    for (int i = 0; i < 50; ++i) {
        auto lock = (i % 3 == 0 ? first_client : second_client)
                        .acquire("it", {.ttl = long_ttl, .wait = wait_bound});
        newest.require_later(lock.token(), "a release");
        require_equal(lock.release(), release_result::released, "release");
    }
}

void tokens_grow_over_expiry_and_force(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 500ms);
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    token_order newest;
    auto stale = first_client.acquire("it", {.ttl = ttl, .max_hold = 500ms});
    newest.require_later(stale.token(), "nothing");
    auto second = second_client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    newest.require_later(second.token(), "an expiry");
    require(first_client.force_release("it"), "force_release of a held lock reported no holder");
    auto third = first_client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    newest.require_later(third.token(), "a forced release");
}

void tokens_grow_over_hand_offs(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    token_order newest;  // only the lock's holder uses it
    std::vector<std::unique_ptr<background_task>> crowd;
    for (int i = 0; i < 5; ++i)
        crowd.push_back(std::make_unique<background_task>([&] {
            blocking::client locks(env.target, long_tries);
            for (int round = 0; round < 30; ++round) {
                auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
                newest.require_later(lock.token(), "a hand-off");
                (void)lock.release();
            }
        }));
    for (auto& each : crowd)
        each->get();
}

void one_client_passes_later_tokens_among_its_threads(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    token_order newest;  // only the lock's holder uses it
    std::vector<std::unique_ptr<background_task>> crowd;
    for (int i = 0; i < 5; ++i)
        crowd.push_back(std::make_unique<background_task>([&] {
            for (int round = 0; round < 30; ++round) {
                auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
                newest.require_later(lock.token(), "a local hand-off");
                (void)lock.release();
            }
        }));
    for (auto& each : crowd)
        each->get();
}

void tokens_grow_over_process_restarts(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    token_order newest;
    for (int i = 0; i < 3; ++i) {
        agent passing(env);
        newest.require_later(passing.acquire("it", long_ttl), "a process restart");
        require_equal(passing.request("release it"), std::string("release released"), "release");
    }
}

// The service loses its memory between the two; the clients stay.
void tokens_grow_over_service_restarts(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    if (!env.restart) return;
    blocking::client locks(env.target, long_tries);
    token_order newest;
    for (int i = 0; i < 3; ++i) {
        {
            auto lock = locks.acquire("it", {.ttl = ttl, .wait = 20s});
            newest.require_later(lock.token(), "a service restart");
        }
        env.restart();
        blocking::client fresh(env.target, long_tries);
        auto lock = fresh.acquire("it", {.ttl = ttl, .wait = 20s});
        newest.require_later(lock.token(), "a service restart, for a fresh client");
    }
}

void a_hold_without_a_token_changes_no_order(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    token_order newest;
    for (int i = 0; i < 5; ++i) {
        auto fenced = locks.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
        newest.require_later(fenced.token(), "a hold without one");
        (void)fenced.release();
        auto plain = locks.acquire("it", {.ttl = long_ttl, .fenced = false});
        require(!plain.token(), "an unfenced hold has a token");
        require_equal(plain.release(), release_result::released, "release of an unfenced hold");
    }
}

void a_waiter_may_ask_for_no_token(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    auto first = other.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    blocking::held_lock plain;
    background_task waiting([&] {
        plain = locks.acquire("it", {.ttl = long_ttl, .wait = wait_bound, .fenced = false});
    });
    require(has_waiters(service_fixture, other, "it", 1), "the waiter is not in the queue");
    (void)first.release();
    waiting.get();
    require(!plain.token(), "an unfenced hold from the queue has a token");
    require_equal(plain.release(), release_result::released, "release of an unfenced hold");
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    require(next.token() > first.token(), "the token after an unfenced hold is not larger");
}

// A service that numbers each hold needs the number of this one, too.
void a_hold_without_a_token_is_renewed(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    const auto& supported = service_fixture.capabilities();
    std::vector<lock_mode> modes{lock_mode::exclusive};
    if (supported.shared) modes.push_back(lock_mode::shared);
    for (const auto mode : modes) {
        auto plain = locks.acquire(
            "it", {.ttl = long_ttl, .wait = wait_bound, .mode = mode, .fenced = false});
        plain.renew();
        require_equal(plain.state(), lock_state::held, "an unfenced hold after a renewal");
        require(!other.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
                "the renewal of an unfenced hold has freed the lock");
        if (mode == lock_mode::exclusive && supported.downgrades && supported.shared) {
            plain.downgrade();
            plain.renew();
            require(!plain.token(), "an unfenced hold has a token after a downgrade");
            require(!other.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
                    "the downgrade of an unfenced hold has freed the lock");
        }
        require_equal(plain.release(), release_result::released, "release of an unfenced hold");
    }
}

bool with_lasting_tokens(const capabilities& supported) {
    return supported.fencing && supported.tokens_survive_data_loss;
}

constexpr test_case list[] = {
    {"tokens_grow_over_releases", with_fencing, tokens_grow_over_releases},
    {"tokens_grow_over_expiry_and_force", with_fencing, tokens_grow_over_expiry_and_force},
    {"tokens_grow_over_hand_offs", with_fencing, tokens_grow_over_hand_offs},
    {"one_client_passes_later_tokens_among_its_threads", with_fencing,
     one_client_passes_later_tokens_among_its_threads},
    {"tokens_grow_over_process_restarts", with_fencing_and_processes,
     tokens_grow_over_process_restarts},
    {"tokens_grow_over_service_restarts", with_lasting_tokens, tokens_grow_over_service_restarts},
    {"a_hold_without_a_token_changes_no_order", with_fencing,
     a_hold_without_a_token_changes_no_order},
    {"a_waiter_may_ask_for_no_token", with_fencing, a_waiter_may_ask_for_no_token},
    {"a_hold_without_a_token_is_renewed", with_fencing, a_hold_without_a_token_is_renewed},
};

}  // namespace

std::span<const test_case> token_tests() noexcept { return list; }

}  // namespace pawl::conformance
