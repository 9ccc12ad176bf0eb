// The scripts' twins beside the real Lua on a real server whose clock we move: both are told to do
// the same, and every reply, every message and every key is compared after every operation.
#pragma once

#include "real_redis.hpp"
#include "replies.hpp"
#include "store.hpp"

#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace pawl::simulation {

using words = std::vector<std::string>;

// The clock starts where tokens have the length that they have today.
inline constexpr std::int64_t world_start_us = 1'900'000'000'000'000;

[[nodiscard]] inline std::string text(std::int64_t number) { return std::to_string(number); }

// A script, or a plain command where `script` is empty.
struct operation {
    std::string script;
    words keys;
    words arguments;
};

class cross_check {
public:
    // Which kind of answer it was; each must come often enough, or the comparison means nothing.
    using outcome = std::string (*)(const operation&, const redis::reply&);

    cross_check(words channels, words keys, outcome of);

    // Throws std::runtime_error at the first difference.
    void play(std::int64_t now_us, std::span<const operation> batch);

    // What the twins hold under that key; empty where it is no string.
    [[nodiscard]] std::string value_of(const std::string& key);
    // In a field of it; empty where it is no hash.
    [[nodiscard]] std::string value_of(const std::string& key, const std::string& field);
    // Those that came less often.
    [[nodiscard]] words seldom(std::span<const char* const> outcomes, int times) const;
    [[nodiscard]] int messages() const noexcept { return messages_; }
    [[nodiscard]] int played() const noexcept { return played_; }

private:
    redis::reply run_twin(const operation& what);
    redis::reply run_plain(const words& command);
    redis::reply dump_twins();
    redis::reply row(const std::string& name, const store::entry& entry);

    void load_scripts();
    void queue(const operation& what);
    void queue_script(const std::string& sha1, const words& keys, const words& arguments);
    redis::reply read_dump();
    void compare_messages();

    const words channels_, keys_;
    const outcome outcome_;
    std::map<std::string, int> seen_;
    int messages_ = 0, played_ = 0;

    store twins_;
    bool full_ = false;
    std::deque<std::string> published_;
    const std::function<std::int64_t(std::string_view, std::string_view)> publish_;

    real_redis server_;
    real_connection commands_{server_.socket_path()};
    real_connection heard_{server_.socket_path()};
    std::string dump_sha1_;
};

}  // namespace pawl::simulation
