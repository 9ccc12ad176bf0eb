// The promises that every backend keeps, as a list that can be run against any of them, without a
// test framework. docs/writing-a-backend.md shows the ten lines of main that an outside backend
// needs.
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

// An empty place for locks, made for one promise and thrown away after it.
struct world {
    service where;
    // With which a helper process finds the same world; empty when no other process can.
    std::string url;
    // Ends the service as `kill -9` does, loses what it had not stored, and starts it again. Empty
    // where that cannot be done.
    std::function<void()> restart;
    // Whatever must live as long as the world.
    std::shared_ptr<void> keep;
};

class fixture {
public:
    virtual ~fixture() = default;
    virtual world fresh() = 0;
    // What the backend says of itself; it decides which promises are asked for.
    [[nodiscard]] virtual const promises& promised() const = 0;
};

// Thrown by `promise::run`: one sentence that says what was found instead.
class broken : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct promise {
    std::string_view name;  // an identifier
    bool (*asked_of)(const promises&) = nullptr;
    // Returns when the promise was kept. Takes seconds, not minutes; waits for effects, never for
    // time.
    void (*run)(fixture&) = nullptr;
};

[[nodiscard]] std::span<const promise> all_promises() noexcept;

class reporter {
public:
    virtual ~reporter() = default;
    virtual void begins(const promise& which) = 0;
    virtual void kept(const promise& which) = 0;
    virtual void broke(const promise& which, std::string_view how) = 0;
};

// Runs all that apply, one after the other: `begins`, then `kept` or `broke`, for each. Whatever a
// promise or the fixture throws, the next one is run. True: every one was kept.
bool run_all(fixture& of, reporter& to);

// The same, a line each, with the name before it is run; at the end how many were kept, and the
// names of the broken ones. The exit status for main: 0, or 1 where one was broken.
int run_and_print(fixture& of, std::ostream& to);

using opener = std::function<service(std::string_view url)>;

// Some promises are about processes that are killed or stopped: the program then starts itself
// again with
// `--pawl-helper` as its first argument. Call this first thing in main, and return its answer when
// it has one. `open` turns `world::url` into a service.
[[nodiscard]] std::optional<int> helper_main(int argc, char** argv, const opener& open);

}  // namespace pawl::conformance
