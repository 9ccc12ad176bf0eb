#include "explain.hpp"

#include "descendants.hpp"
#include "failure.hpp"
#include "lock_view.hpp"
#include "processes.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

// Who is in the way of `options`; of several locks, we may have this one already.
std::optional<holder> obstacle(const lock_info& found, const run_options& options) {
    for (const holder& each : holders_of(found)) {
        const bool ours = !options.also.empty() && each.pid == ::getppid();
        const bool beside_us = options.mode == lock_mode::shared && each.mode == lock_mode::shared;
        if (!ours && !beside_us) return each;
    }
    return std::nullopt;
}

std::string this_host() {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    return host.data();
}

// The keeper's parent is the front, and what started it stands above.
bool is_around_us(std::int64_t pid) {
    auto each = read_process(::getppid());
    while (each && each->parent > 1 && each->parent != pid)
        each = read_process(each->parent);
    return each && each->parent == pid;
}

// The lock that a run around this one holds, so that both would wait for each other.
std::optional<holder> own_holder(const lock_info& found, lock_mode mode) {
    for (const holder& each : holders_of(found)) {
        const bool beside = each.mode == mode && mode != lock_mode::exclusive;
        if (!beside && each.host == this_host() && is_around_us(each.pid)) return each;
    }
    return std::nullopt;
}

}  // namespace

void refuse_own_wait(blocking::client& locks, const run_options& options) {
    if (!proc_is_ours()) return;
    for (const auto& name : names_of(options)) {
        std::optional<holder> by;
        try {
            by = own_holder(locks.inspect(name), options.mode);
        } catch (const pawl::error&) {
            return;  // the acquire itself tells what is wrong
        }
        if (by)
            throw pawl::error(errc::deadlock,
                              "'" + name + "' is held by the `pawl run` around this one, process " +
                                  std::to_string(by->pid) +
                                  ", so each would wait for the other's end; take the lock once, "
                                  "or give this one another name.");
    }
}

void explain_wait(blocking::client& locks, const run_options& options,
                  const std::stop_token& over) {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    if (ended.wait_for(lock, over, 1s, [] { return false; }) || over.stop_requested()) return;
    auto names = names_of(options);
    std::sort(names.begin(), names.end());  // as they are taken
    try {
        for (const auto& name : names) {
            const auto by = obstacle(locks.inspect(name), options);
            if (over.stop_requested()) return;
            if (!by) continue;
            const std::string command = by->command.empty() ? "" : " (" + by->command + ")";
            say("Waiting for '" + name + "', held by " + who(*by) + command + ".");
            return;
        }
    } catch (const pawl::error&) {
        // The acquire itself tells what is wrong.
    }
}

void explain_permits(blocking::client& locks, const run_options& options) {
    if (options.mode != lock_mode::permits || options.of != 0) return;
    if (locks.inspect(options.name).free_permits) return;
    throw pawl::error(errc::bad_option, "Nobody has said how many permits '" + options.name +
                                            "' has; say it once, as in --permits " +
                                            std::to_string(options.permits) + "/5.");
}

}  // namespace pawl::cli
