#include "lists.hpp"

namespace pawl::conformance {

namespace {

// Remembers the newest token, and breaks the promise when one is not later.
class ratchet {
public:
    void next(fencing_token token, const std::string& after) {
        require(static_cast<bool>(token), "no token after " + after);
        require(token > newest_, "the token after " + after + " is " + to_string(token) +
                                     ", not later than " + to_string(newest_));
        newest_ = token;
    }

private:
    fencing_token newest_;
};

void tokens_grow_over_releases(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    ratchet newest;
    for (int i = 0; i < 50; ++i) {
        auto lock = (i % 3 == 0 ? one : two).acquire("it", {.ttl = long_ttl, .wait = patience});
        newest.next(lock.token(), "a release");
        require_equal(lock.release(), release_result::released, "release");
    }
}

void tokens_grow_over_expiry_and_force(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    ratchet newest;
    auto stale = one.acquire("it", {.ttl = 500ms, .max_hold = 500ms});
    newest.next(stale.token(), "nothing");
    auto second = two.acquire("it", {.ttl = long_ttl, .wait = patience});
    newest.next(second.token(), "an expiry");
    require(one.force_release("it"), "force_release of a held lock said that nobody had it");
    auto third = one.acquire("it", {.ttl = long_ttl, .wait = patience});
    newest.next(third.token(), "a forced release");
}

void tokens_grow_over_hand_offs(fixture& of) {
    const world here = of.fresh();
    ratchet newest;  // only its holder touches it
    std::vector<std::unique_ptr<aside>> crowd;
    for (int i = 0; i < 5; ++i)
        crowd.push_back(std::make_unique<aside>([&] {
            blocking::client locks(here.where);
            for (int round = 0; round < 30; ++round) {
                auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
                newest.next(lock.token(), "a hand-off");
                (void)lock.release();
            }
        }));
    for (auto& each : crowd)
        each->get();
}

void one_client_passes_later_tokens_among_its_threads(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    ratchet newest;  // only its holder touches it
    std::vector<std::unique_ptr<aside>> crowd;
    for (int i = 0; i < 5; ++i)
        crowd.push_back(std::make_unique<aside>([&] {
            for (int round = 0; round < 30; ++round) {
                auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
                newest.next(lock.token(), "a local hand-off");
                (void)lock.release();
            }
        }));
    for (auto& each : crowd)
        each->get();
}

void tokens_grow_over_process_restarts(fixture& of) {
    const world here = of.fresh();
    ratchet newest;
    for (int i = 0; i < 3; ++i) {
        agent passing(here);
        newest.next(passing.acquire("it", long_ttl), "a process restart");
        require_equal(passing.ask("release it"), std::string("release released"), "release");
    }
}

// The service loses its memory between the two; the clients stay.
void tokens_grow_over_service_restarts(fixture& of) {
    const world here = of.fresh();
    if (!here.restart) return;
    blocking::client locks(here.where);
    ratchet newest;
    for (int i = 0; i < 3; ++i) {
        {
            auto lock = locks.acquire("it", {.ttl = 2s, .wait = 20s});
            newest.next(lock.token(), "a service restart");
        }
        here.restart();
        blocking::client fresh(here.where);
        auto lock = fresh.acquire("it", {.ttl = 2s, .wait = 20s});
        newest.next(lock.token(), "a service restart, for a fresh client");
    }
}

void a_hold_without_a_token_changes_no_order(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    ratchet newest;
    for (int i = 0; i < 5; ++i) {
        auto fenced = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        newest.next(fenced.token(), "a hold without one");
        (void)fenced.release();
        auto plain = locks.acquire("it", {.ttl = long_ttl, .fenced = false});
        require(!plain.token() || plain.token() > fenced.token(),
                "a hold without a token has an old one");
        require_equal(plain.release(), release_result::released,
                      "release of a hold without a token");
    }
}

bool with_lasting_tokens(const promises& promised) {
    return promised.fencing && promised.survives_restart;
}

constexpr promise list[] = {
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
};

}  // namespace

std::span<const promise> token_promises() noexcept { return list; }

}  // namespace pawl::conformance
