// The tests that every backend must pass, without a test framework: each checks one promise.
// docs/writing-a-backend.md has the `main` for a backend of your own.
#pragma once

#include <pawl/blocking.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace pawl {
struct promises;  // backend.hpp
}

namespace pawl::conformance {

// An empty service, made for one test and discarded after it.
struct world {
    service where;
    // For a helper process, which opens the same world. Empty if no other process can.
    std::string url;
    // Kills the service as `kill -9` does, discards what it had not stored, and starts it again.
    // Empty if that is not possible.
    std::function<void()> restart;
    // Owns what must live as long as the world.
    std::shared_ptr<void> keep;
};

// Implemented by the author of a backend.
class fixture {
public:
    virtual ~fixture() = default;
    // A new, empty world.
    virtual world fresh() = 0;
    // What the backend's `promised()` returns. It selects the tests.
    [[nodiscard]] virtual const promises& promised() const = 0;
};

// Thrown by `promise::run`. The message says what happened instead.
class broken : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// One test.
struct promise {
    std::string_view name;                        // an identifier
    bool (*asked_of)(const promises&) = nullptr;  // whether such a backend must pass it
    // Returns when the promise is kept, else throws `broken` or another exception. Takes seconds,
    // not minutes: it waits for effects, never for a fixed time.
    void (*run)(fixture&) = nullptr;
};

// All tests, also those that `promised()` excludes.
[[nodiscard]] std::span<const promise> all_promises() noexcept;

// Receives the results of `run_all`, in the calling thread.
class reporter {
public:
    virtual ~reporter() = default;
    virtual void begins(const promise& which) = 0;
    virtual void kept(const promise& which) = 0;
    virtual void broke(const promise& which, std::string_view how) = 0;
};

// Runs the selected tests one after the other. Each calls `begins`, then `kept` or `broke`. An
// exception of a test or of the fixture does not stop the rest. True: all promises were kept.
bool run_all(fixture& of, reporter& to);

// The same, with a line for each test, and at the end the counts and the names of the broken
// promises. Returns the exit status for main: 0, or 1 if a promise was broken.
int run_and_print(fixture& of, std::ostream& to);

// Turns `world::url` into a service.
using opener = std::function<service(std::string_view url)>;

// Some tests kill or stop a process: the program then starts itself again with `--pawl-helper` as
// its first argument. Call this function first in main, and return its result if there is one.
[[nodiscard]] std::optional<int> helper_main(int argc, char** argv, const opener& open);

}  // namespace pawl::conformance
