// What the promises are written with.
#pragma once

#include "process.hpp"

#include <pawl/backend.hpp>
#include <pawl/conformance.hpp>
#include <pawl/mutex.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace pawl::conformance {

using namespace std::chrono_literals;

// For an effect that must come without any lease running out: tests of it use ttls of a minute.
inline constexpr duration soon = 10s;
// What a lock may need on top of a dead holder's ttl to be somebody else's.
inline constexpr duration grace = 2s;
inline constexpr duration long_ttl = 60s;
// Waits that must succeed have a bound, so that a broken promise is a sentence and not a hanging
// test.
inline constexpr duration patience = 30s;

// Throws `broken` with the sentence unless it holds.
void require(bool holds, const std::string& sentence);

template <class A, class B>
void require_equal(const A& found, const B& wanted, const std::string& what);

[[nodiscard]] std::string shown(lock_state value);
[[nodiscard]] std::string shown(loss_reason value);
[[nodiscard]] std::string shown(release_result value);
[[nodiscard]] std::string shown(errc value);
[[nodiscard]] std::string shown(bool value);
[[nodiscard]] std::string shown(fencing_token value);
[[nodiscard]] std::string shown(const std::string& value);
[[nodiscard]] std::string shown(const std::optional<errc>& value);
template <class Number>
    requires std::is_integral_v<Number>
[[nodiscard]] std::string shown(Number value) {
    return std::to_string(value);
}

template <class A, class B>
void require_equal(const A& found, const B& wanted, const std::string& what) {
    if (!(found == wanted))
        throw broken(what + ": " + shown(found) + " instead of " + shown(A(wanted)));
}

// Looks again and again, for at most `bound`.
[[nodiscard]] bool eventually(const std::function<bool()>& effect, duration bound = soon);

// The reason of the pawl::error that the call throws; empty when it throws none.
[[nodiscard]] std::optional<errc> failure_of(const std::function<void()>& call);

[[nodiscard]] std::uint64_t waiters_of(blocking::client& eyes, const std::string& name);
[[nodiscard]] bool has_waiters(blocking::client& eyes, const std::string& name,
                               std::uint64_t count);
[[nodiscard]] bool is_free(blocking::client& eyes, const std::string& name);

// Lines up so many waiters behind a hold of the first client's, each when the one before stands in
// line, the next client's each time.
void require_order_of_arrival(const world& here, std::size_t clients, std::size_t waiters,
                              lock_options how);

// A helper process that does one command at a time; the verbs are in agent.cpp.
class agent {
public:
    explicit agent(const world& where);

    [[nodiscard]] child& process() noexcept { return process_; }
    void tell(const std::string& command) { process_.send(command); }
    // The next line; broken when there is none in time.
    std::string answer(duration bound = soon);
    std::string ask(const std::string& command, duration bound = soon);
    // Tells it to acquire, and returns the token that it got within `bound`.
    fencing_token acquire(const std::string& name, duration ttl, duration bound = soon);

private:
    child process_;
};

// The token in a line `held TOKEN …`; broken when the line is another one.
[[nodiscard]] fencing_token token_in(const std::string& line);

// A thread's answer, with its exception; joined by `get` or the destructor.
class aside {
public:
    explicit aside(std::function<void()> work);
    // Rethrows what the work threw.
    void get();
    // The same; broken unless that is `soon`, where the work itself would wait for longer.
    void get_soon(const std::string& what);

private:
    std::exception_ptr thrown_;
    std::atomic<bool> done_ = false;
    std::jthread thread_;
};

// Of a lock in the standard's shape that the calling thread holds: `renew` moves the end of its
// hold, refuses a thread that has none, and tells of a loss.
template <class Lock>
void require_renewal(Lock& it, blocking::client& other) {
    const auto before = it.handle().safe_until();
    require(boot_clock::now() < before, "a fresh hold is over");
    it.renew();
    require(it.handle().safe_until() > before, "renew did not move safe_until");
    aside([&] {
        require_equal(failure_of([&] { it.renew(); }), errc::bad_option, "renew without a hold");
    }).get();
    require(other.force_release("it"), "force_release of a held lock said that nobody had it");
    require_equal(failure_of([&] { it.renew(); }), errc::lost, "renew after a forced release");
}

// Counts who is inside, and remembers whether two ever were.
class turnstile {
public:
    void enter();
    void leave();
    [[nodiscard]] bool ever_shared() const noexcept { return shared_; }

private:
    std::atomic<int> inside_ = 0;
    std::atomic<bool> shared_ = false;
};

}  // namespace pawl::conformance
