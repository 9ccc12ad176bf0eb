// The keys of one simulated Redis, with the meaning that its commands give them: types, expiry by
// the server's wall clock, errors by code. Only what Pawl's scripts use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pawl::simulation {

// The first word is the code: "WRONGTYPE …".
class command_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class store {
public:
    struct sorted_set {
        std::map<std::string, double, std::less<>> scores;
        std::set<std::pair<double, std::string>> order;
    };
    using hash = std::map<std::string, std::string, std::less<>>;
    struct entry {
        std::variant<std::string, sorted_set, hash> content;
        std::optional<std::int64_t> expires_ms;
    };
    using keys = std::map<std::string, entry, std::less<>>;

    // The clock, µs since 1970. It stands still while a command or script runs, as Redis' does.
    void set_clock(std::int64_t us) noexcept { now_us_ = us; }
    [[nodiscard]] std::int64_t now_us() const noexcept { return now_us_; }
    [[nodiscard]] std::int64_t now_ms() const noexcept { return now_us_ / 1000; }

    std::optional<std::string> get(std::string_view key);
    // False with `only_new` where the key exists. px ≤ 0 is an error; none: no expiry.
    bool set(std::string_view key, std::string_view value, std::optional<std::int64_t> px,
             bool only_new);
    bool del(std::string_view key);
    std::int64_t pttl(std::string_view key);
    bool pexpire(std::string_view key, std::int64_t ms);
    bool pexpireat(std::string_view key, std::int64_t when_ms) {
        return pexpire(key, when_ms - now_ms());
    }
    bool exists(std::string_view key) { return find(key) != nullptr; }
    std::int64_t incr(std::string_view key) { return incrby(key, 1); }
    std::int64_t incrby(std::string_view key, std::int64_t by);

    bool zadd_new(std::string_view key, double score, std::string_view member);
    void zadd(std::string_view key, double score, std::string_view member);
    // Members in order, the lowest score first.
    [[nodiscard]] std::vector<std::pair<std::string, double>> zrange(std::string_view key);
    bool zrem(std::string_view key, std::string_view member);
    std::optional<std::string> zpopmin(std::string_view key);
    std::int64_t zcard(std::string_view key);
    std::optional<double> zscore(std::string_view key, std::string_view member);
    std::optional<std::int64_t> zrank(std::string_view key, std::string_view member);

    void hset(std::string_view key, std::string_view field, std::string_view value);
    std::optional<std::string> hget(std::string_view key, std::string_view field);
    void hincrby(std::string_view key, std::string_view field, std::int64_t by);
    [[nodiscard]] hash hgetall(std::string_view key);
    bool hdel(std::string_view key, std::string_view field);

    // What is there now; what has expired is dropped first.
    const keys& all();
    void clear() noexcept { keys_.clear(); }
    // Out of memory, `noeviction`: commands that may need some are refused, in a script as long as
    // it has written nothing.
    void set_full(bool on) noexcept { full_ = on; }
    // What the commands since `begin_journal` have read and written; for client-side caching.
    struct journal {
        std::vector<std::string> read, written;
    };
    void begin_journal() {
        journal_ = {};
        dirty_ = false;
    }
    [[nodiscard]] const journal& journaled() const noexcept { return journal_; }

    // Until the next call: a command that writes fails with this error, unless its script has
    // written before. Empty: nothing is refused.
    void refuse_writes(std::string error) { refusal_ = std::move(error); }

    // For backups and restarts.
    [[nodiscard]] keys copy() const { return keys_; }
    // With what has expired and was not yet dropped.
    [[nodiscard]] const keys* peek() const noexcept { return &keys_; }
    void replace(keys with) { keys_ = std::move(with); }

private:
    void about_to_write(bool needs_memory);
    entry* find(std::string_view key);
    void erase(keys::iterator which);
    template <class T>
    T* find_as(std::string_view key);
    template <class T>
    T& make_as(std::string_view key);

    std::int64_t now_us_ = 0;
    keys keys_;
    journal journal_;
    std::string refusal_;
    bool dirty_ = false;
    bool full_ = false;
};

}  // namespace pawl::simulation
