// What one Redis server does with commands: the twins of Pawl's scripts, a few plain commands, a
// few databases, channels, and client-side caching, of which the last two are of all databases
// together. Knows nothing of networks; see simulated_network.hpp.
#pragma once

#include "twins.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

using words = std::vector<std::string>;

class simulated_redis {
public:
    using connection = std::uint64_t;
    static constexpr std::size_t databases = 3;
    using snapshot = std::array<store::keys, databases>;
    // {"message", channel, payload} or {"invalidate", key}; an empty key: every key.
    using push_sink = std::function<void(connection, words)>;

    simulated_redis(push_sink pushes, planted bug);

    // µs since 1970; the caller sets it before every command.
    void set_clock(std::int64_t us);
    redis::reply execute(connection from, const words& command);
    // Drops what has expired and tells those who cached it.
    void expire();
    // When the next key that somebody caches expires, in the server's ms; -1: none.
    [[nodiscard]] std::int64_t next_cached_expiry() const;
    void disconnect(connection gone);

    void flush_all();
    void forget_scripts() { known_.clear(); }
    void evict(std::size_t database, std::string_view key);
    // From now on every script is refused with this error: at its first write, or, where `at_once`,
    // before it begins. Empty: none is.
    void refuse(std::string error, bool at_once);
    // A stale copy comes back under the live connections: REPLICAOF it, then NO ONE.
    void go_back(snapshot to);
    // A new process on the given data.
    void restart(snapshot with);
    // Out of memory, or not any more.
    void set_full(bool on);

    [[nodiscard]] store& data(std::size_t database = 0) noexcept { return stores_.at(database); }
    [[nodiscard]] snapshot copy() const;
    // In which the last command was carried out.
    [[nodiscard]] std::size_t database() const noexcept { return database_; }
    [[nodiscard]] std::string run_id() const { return "run" + std::to_string(runs_); }

private:
    redis::reply dispatch(connection from, const words& command);
    redis::reply subscribe(connection from, const words& command);
    redis::reply unsubscribe(connection from, const words& command);
    redis::reply select(connection from, const std::string& database);
    [[nodiscard]] store& keys() noexcept { return stores_[database_]; }
    redis::reply evaluate(const words& command, bool by_text);
    redis::reply scan(const words& command);
    std::int64_t publish(std::string_view channel, std::string_view payload);
    void remember_reads(connection from);
    void tell_of_writes(connection from);

    push_sink pushes_;
    planted bug_;
    std::array<store, databases> stores_;
    std::size_t database_ = 0;
    std::map<connection, std::size_t> selected_;
    std::function<std::int64_t(std::string_view, std::string_view)> publish_;
    std::map<std::string, std::set<connection>, std::less<>> channels_;
    std::map<std::string, std::set<connection>, std::less<>> cached_;
    std::set<connection> tracking_;
    std::set<connection> caching_next_;
    std::set<std::string, std::less<>> known_;
    std::string refusal_;
    bool refuses_at_once_ = false;
    int runs_ = 1;
};

}  // namespace pawl::simulation
