// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The tests that every backend must pass, without a test framework.
// docs/contributing/writing-a-backend.md has the `main` for a backend of your own.
#pragma once

#include <pawl/blocking/client.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace pawl::spi {
struct capabilities;  // backend.hpp
}

namespace pawl::conformance {

// An empty service, made for one test and discarded after it.
struct test_service {
    service target;  // opens the test service
    // For a helper process, which opens the same service. Empty if no other process can.
    std::string url;
    // Kills the service as `kill -9` does, discards what it had not stored, and starts it again.
    // Empty if that is not possible.
    std::function<void()> restart;
    // Owns what must live as long as the service.
    std::shared_ptr<void> owned;
};

// Implemented by the author of a backend.
class fixture {
public:
    virtual ~fixture() = default;
    // A new, empty service.
    virtual test_service make_test_service() = 0;
    // The backend's capabilities. They select the tests.
    [[nodiscard]] virtual const spi::capabilities& capabilities() const = 0;
    // False: `inspect` shows no waiters, because the service does not know them: they poll. The
    // tests then give a waiter a moment to begin, in place of looking for it.
    [[nodiscard]] virtual bool shows_waiters() const { return true; }
    // False: the service cannot store this name, which has 1 to 512 bytes and no control
    // characters. It must then refuse the name with errc::bad_name.
    [[nodiscard]] virtual bool accepts_name([[maybe_unused]] std::string_view name) const {
        return true;
    }
    // False: `list` fails with errc::unsupported, or shows only some of the held locks.
    [[nodiscard]] virtual bool lists_locks() const { return true; }
    // How many locks may be held at a time, where each needs a connection. 50 or more.
    [[nodiscard]] virtual int most_holds() const { return 1000; }
    // How many servers a client asks at the same time, each with a request of its own.
    [[nodiscard]] virtual unsigned servers_per_request() const { return 1; }
};

// Thrown by `test_case::run`. The message says what happened instead.
class failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// One test.
struct test_case {
    std::string_view name;                                   // an identifier
    bool (*applies_to)(const spi::capabilities&) = nullptr;  // whether such a backend must pass it
    // Returns when the test has passed, else throws `failure` or another exception. Takes seconds,
    // not minutes: it waits for effects, never for a fixed time.
    void (*run)(fixture&) = nullptr;
};

// All tests, also those that the capabilities exclude.
[[nodiscard]] std::span<const test_case> all_test_cases() noexcept;

// Receives the results of `run_all`, in the calling thread.
class reporter {
public:
    virtual ~reporter() = default;
    // The events of one test: it starts, then passes or fails.
    virtual void started(const test_case& test) = 0;
    virtual void passed(const test_case& test) = 0;
    virtual void failed(const test_case& test, std::string_view message) = 0;
};

// Runs the selected tests one after the other. Each calls `started`, then `passed` or `failed`. An
// exception of a test or of the fixture does not stop the rest. True: all tests passed.
bool run_all(fixture& backend_fixture, reporter& results);

// As `run_all`, but prints a line for each test, and at the end the counts and the names of the
// failed tests. Returns the exit status for main: 0, or 1 if a test failed.
int run_and_print(fixture& backend_fixture, std::ostream& out);

// Turns `test_service::url` into a service.
using opener = std::function<service(std::string_view url)>;

// Some tests kill or stop a process: the program then starts itself again with `--pawl-helper` as
// its first argument. Call this function first in main, and return its result if there is one.
[[nodiscard]] std::optional<int> helper_main(int argc, char** argv, const opener& open);

}  // namespace pawl::conformance
