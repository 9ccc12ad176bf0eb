// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "java_scripts.hpp"

#include <array>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace pawl::simulation {
namespace {

// A script is the only one of its class that contains this part.
struct source {
    java_script script;
    std::string_view name;
    std::string_view java_class;
    std::string_view part;
};

constexpr std::array sources{
    source{java_script::lock, "java/lock", "RedissonLock", "return redis.call('pttl', KEYS[1]);"},
    source{java_script::fenced_lock, "java/fenced_lock", "RedissonFencedLock",
           "return redis.call('pttl', KEYS[1]);"},
    source{java_script::fenced_lock_with_token, "java/fenced_lock_with_token", "RedissonFencedLock",
           "return {-1, token};"},
    source{java_script::unlock, "java/unlock", "RedissonLock",
           "redis.call('hincrby', KEYS[1], ARGV[3], -1)"},
    source{java_script::renew, "java/renew", "LockTask", "redis.call('pexpire', KEYS[i], ARGV[1])"},
    source{java_script::fair_lock, "java/fair_lock", "RedissonFairLock",
           "-tonumber(ARGV[3]), keys[i]"},
    source{java_script::fair_try_lock, "java/fair_try_lock", "RedissonFairLock",
           "-tonumber(ARGV[4]), keys[i]"},
    source{java_script::fair_leave, "java/fair_leave", "RedissonFairLock",
           "-tonumber(ARGV[2]), queue[i]"},
    source{java_script::fair_unlock, "java/fair_unlock", "RedissonFairLock",
           "redis.call('hincrby', KEYS[1], ARGV[3], -1)"},
    source{java_script::read_lock, "java/read_lock", "RedissonReadLock",
           "redis.call('hset', KEYS[1], 'mode', 'read')"},
    source{java_script::read_unlock, "java/read_unlock", "RedissonReadLock",
           "redis.call('hincrby', KEYS[1], ARGV[2], -1)"},
    source{java_script::read_renew, "java/read_renew", "ReadLockTask", "rwlock_timeout"},
    source{java_script::write_lock, "java/write_lock", "RedissonWriteLock",
           "redis.call('hset', KEYS[1], 'mode', 'write')"},
    source{java_script::write_unlock, "java/write_unlock", "RedissonWriteLock",
           "redis.call('hincrby', KEYS[1], ARGV[3], -1)"},
    source{java_script::permits_try_set, "java/permits_try_set", "RedissonPermitExpirableSemaphore",
           "redis.call('set', KEYS[1], ARGV[1]); redis.call(ARGV[2], KEYS[2], ARGV[1]); return 1;"},
    source{java_script::permits_acquire, "java/permits_acquire", "RedissonPermitExpirableSemaphore",
           "redis.call('zadd', KEYS[2], ARGV[2], ARGV[i])"},
    source{java_script::permits_release, "java/permits_release", "RedissonPermitExpirableSemaphore",
           "redis.call('zrem', KEYS[3], ARGV[1])"},
    source{java_script::permits_release_all, "java/permits_release_all",
           "RedissonPermitExpirableSemaphore", "redis.call('zrem', KEYS[3], unpack(keys))"},
    source{java_script::permits_update_lease, "java/permits_update_lease",
           "RedissonPermitExpirableSemaphore", "redis.call('zadd', KEYS[2], ARGV[2], ARGV[1])"},
    source{java_script::semaphore_try_set, "java/semaphore_try_set", "RedissonSemaphore",
           "redis.call('set', KEYS[1], ARGV[1]); redis.call(ARGV[2], KEYS[2], ARGV[1]); return 1;"},
    source{java_script::semaphore_acquire, "java/semaphore_acquire", "RedissonSemaphore",
           "redis.call('decrby', KEYS[1], ARGV[1])"},
    source{java_script::semaphore_release, "java/semaphore_release", "RedissonSemaphore",
           "redis.call('incrby', KEYS[1], ARGV[1]); "},
    source{java_script::semaphore_add, "java/semaphore_add", "RedissonSemaphore",
           "redis.call('set', KEYS[1], value + ARGV[1])"},
};

std::vector<std::string> read_lines() {
    std::ifstream file(PAWL_REDISSON_SCRIPTS);
    if (!file)
        throw std::runtime_error(
            "Redisson's scripts are not in " PAWL_REDISSON_SCRIPTS
            "; `./dev test -R simulation.redisson` reads them from Redisson's jar.");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        lines.push_back(std::move(line));
    return lines;
}

std::string find_text(const std::vector<std::string>& lines, const source& wanted) {
    const auto beginning = std::string(wanted.java_class) + '\t';
    std::string text;
    std::size_t count = 0;
    for (const auto& line : lines) {
        if (!line.starts_with(beginning) || line.find(wanted.part) == line.npos) continue;
        text = line.substr(beginning.size());
        ++count;
    }
    if (count != 1)
        throw std::runtime_error(std::to_string(count) + " scripts of Redisson's class " +
                                 std::string(wanted.java_class) + " contain '" +
                                 std::string(wanted.part) +
                                 "', not one; update tests/simulation/java/java_scripts.cpp.");
    return text;
}

using script_texts = std::array<std::string, sources.size()>;

const script_texts& all_texts() {
    static const auto texts = [] {
        const auto lines = read_lines();
        script_texts result;
        for (const auto& each : sources)
            result[static_cast<std::size_t>(each.script)] = find_text(lines, each);
        return result;
    }();
    return texts;
}

}  // namespace

const std::string& text_of(java_script script) {
    return all_texts()[static_cast<std::size_t>(script)];
}

std::string_view to_string(java_script script) noexcept {
    return sources[static_cast<std::size_t>(script)].name;
}

std::string_view find_java_script(std::string_view text) {
    for (const auto& each : sources)
        if (text_of(each.script) == text) return each.name;
    return {};
}

}  // namespace pawl::simulation
