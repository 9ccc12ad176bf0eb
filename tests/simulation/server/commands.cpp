// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "commands.hpp"

#include "command_functions.hpp"
#include "slots.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>
#include <vector>

namespace pawl::simulation {
namespace {

namespace functions = command_functions;
using enum command::flag;

constexpr auto grows = static_cast<std::uint8_t>(writes | needs_memory);

constexpr std::array commands{
    command{"DEL", -2, writes, 1, -1, 1, functions::del},
    command{"EXISTS", -2, reads, 1, -1, 1, functions::exists},
    command{"TYPE", 2, reads, 1, 1, 1, functions::type},
    command{"PTTL", 2, reads, 1, 1, 1, functions::pttl},
    command{"PEXPIRE", -3, writes, 1, 1, 1, functions::pexpire},
    command{"PEXPIREAT", -3, writes, 1, 1, 1, functions::pexpireat},
    command{"PERSIST", 2, writes, 1, 1, 1, functions::persist},
    command{"GET", 2, reads, 1, 1, 1, functions::get},
    command{"GETRANGE", 4, reads, 1, 1, 1, functions::getrange},
    command{"SET", -3, grows, 1, 1, 1, functions::set},
    command{"INCR", 2, grows, 1, 1, 1, functions::incr},
    command{"DECR", 2, grows, 1, 1, 1, functions::decr},
    command{"INCRBY", 3, grows, 1, 1, 1, functions::incrby},
    command{"DECRBY", 3, grows, 1, 1, 1, functions::decrby},
    command{"HGET", 3, reads, 1, 1, 1, functions::hget},
    command{"HMGET", -3, reads, 1, 1, 1, functions::hmget},
    command{"HSET", -4, grows, 1, 1, 1, functions::hset},
    command{"HDEL", -3, writes, 1, 1, 1, functions::hdel},
    command{"HEXISTS", 3, reads, 1, 1, 1, functions::hexists},
    command{"HGETALL", 2, reads, 1, 1, 1, functions::hgetall},
    command{"HKEYS", 2, reads, 1, 1, 1, functions::hkeys},
    command{"HLEN", 2, reads, 1, 1, 1, functions::hlen},
    command{"HINCRBY", 4, grows, 1, 1, 1, functions::hincrby},
    command{"HRANDFIELD", 2, reads, 1, 1, 1, functions::hrandfield},
    command{"LPUSH", -3, grows, 1, 1, 1, functions::lpush},
    command{"RPUSH", -3, grows, 1, 1, 1, functions::rpush},
    command{"LPOP", -2, writes, 1, 1, 1, functions::lpop},
    command{"LINDEX", 3, reads, 1, 1, 1, functions::lindex},
    command{"LLEN", 2, reads, 1, 1, 1, functions::llen},
    command{"LPOS", -3, reads, 1, 1, 1, functions::lpos},
    command{"LRANGE", 4, reads, 1, 1, 1, functions::lrange},
    command{"LREM", 4, writes, 1, 1, 1, functions::lrem},
    command{"ZADD", -4, grows, 1, 1, 1, functions::zadd},
    command{"ZINCRBY", 4, grows, 1, 1, 1, functions::zincrby},
    command{"ZCARD", 2, reads, 1, 1, 1, functions::zcard},
    command{"ZCOUNT", 4, reads, 1, 1, 1, functions::zcount},
    command{"ZPOPMIN", -2, writes, 1, 1, 1, functions::zpopmin},
    command{"ZRANGE", -4, reads, 1, 1, 1, functions::zrange},
    command{"ZREVRANGE", -4, reads, 1, 1, 1, functions::zrevrange},
    command{"ZRANGEBYSCORE", -4, reads, 1, 1, 1, functions::zrangebyscore},
    command{"ZRANK", 3, reads, 1, 1, 1, functions::zrank},
    command{"ZREM", -3, writes, 1, 1, 1, functions::zrem},
    command{"ZSCORE", 3, reads, 1, 1, 1, functions::zscore},
    command{"PING", -1, none, 0, 0, 0, functions::ping},
    command{"QUIT", -1, none, 0, 0, 0, functions::ping},  // which leaves the connection open
    command{"TIME", 1, none, 0, 0, 0, functions::time},
    command{"PUBLISH", 3, none, 0, 0, 0, functions::publish},
    command{"SPUBLISH", 3, none, 0, 0, 0, functions::spublish},
    command{"PUBSUB", -2, none, 0, 0, 0, functions::pubsub},
};

const std::unordered_map<std::string_view, const command*>& index() {
    static const auto by_name = [] {
        std::unordered_map<std::string_view, const command*> result;
        for (const auto& each : commands)
            result.emplace(each.name, &each);
        return result;
    }();
    return by_name;
}

constexpr const char* other_slot_error =
    "ERR Script attempted to access keys that do not hash to the same slot";

// The server checks each call of a script again, and the script has no redirections.
std::string script_error(std::string_view refusal) {
    if (refusal.starts_with("CROSSSLOT")) return other_slot_error;
    if (refusal == "CLUSTERDOWN The cluster is down")
        return "ERR Script attempted to execute a command while the cluster is down";
    return "ERR Script attempted to access a non local key in a cluster node";
}

std::string in_case(std::string_view word, int (*convert)(int)) {
    std::string result(word);
    std::ranges::transform(result, result.begin(), [convert](unsigned char letter) {
        return static_cast<char>(convert(letter));
    });
    return result;
}

bool fits(const command& command, std::size_t words) noexcept {
    const auto arity = static_cast<std::size_t>(std::abs(command.arity));
    return command.arity > 0 ? words == arity : words >= arity;
}

std::vector<std::string_view> keys_of(const command& command,
                                      std::span<const std::string_view> words) {
    std::vector<std::string_view> keys;
    if (command.first_key == 0) return keys;
    const auto last =
        command.last_key < 0 ? static_cast<int>(words.size()) + command.last_key : command.last_key;
    for (auto key = command.first_key; key <= last; key += command.key_step)
        keys.push_back(words[static_cast<std::size_t>(key)]);
    return keys;
}

void note_reads(const command& command, const command_call& call) {
    if (!(command.flags & reads)) return;
    for (const auto key : keys_of(command, call.words))
        call.data.note_read(key);
}

}  // namespace

const command* find_command(std::string_view name) noexcept {
    const auto& by_name = index();
    auto it = by_name.find(name);
    if (it == by_name.end()) it = by_name.find(in_case(name, std::toupper));
    return it == by_name.end() ? nullptr : it->second;
}

void command_session::execute(std::span<const std::string_view> words, reply_sink& reply) {
    const bool is_script = from_ == origin::script;
    if (slots_ != nullptr && (words[0] == "CLUSTER" || words[0] == "INFO")) {
        const std::vector<std::string> asked(words.begin(), words.end());
        reply.bulk(slots_->answer(asked).text);
        return;
    }
    const auto* const command = find_command(words[0]);
    if (command == nullptr)
        throw command_error(is_script ? "ERR Unknown Redis command called from script"
                                      : "ERR unknown command '" + std::string(words[0]) + "'");
    if (!fits(*command, words.size()))
        throw command_error(is_script ? "ERR Wrong number of args calling Redis command from script"
                                      : "ERR wrong number of arguments for '" +
                                            in_case(words[0], std::tolower) + "' command");
    check_slots(*command, words);
    if (command->flags & writes) {
        if (!has_written_) check_write(*command);
        has_written_ = true;
    }
    const command_call call{words, data_, channels_, reply};
    command->run(call);
    note_reads(*command, call);
}

void command_session::stay_in_slot_of(std::string_view key) noexcept { slot_ = slot_of(key); }

void command_session::check_slots(const command& command, std::span<const std::string_view> words) {
    if (!slot_ && slots_ == nullptr) return;
    auto names = keys_of(command, words);
    const bool has_channel = command.name == "SPUBLISH";
    if (has_channel) names.push_back(words[1]);
    if (names.empty()) return;
    if (slots_ != nullptr) {
        const auto refusal = slots_->refusal({names, has_channel, is_redirected_}, data_);
        if (!refusal.empty())
            throw command_error(from_ == origin::script ? script_error(refusal) : refusal);
    }
    for (const auto name : names)
        if (slot_ && slot_of(name) != *slot_) throw command_error(other_slot_error);
}

// A client's command is checked for memory first, a script's command last.
void command_session::check_write(const command& command) const {
    const bool may_grow = command.flags & needs_memory;
    const bool is_refused =
        !refusals_.error.empty() && (may_grow || !refusals_.error.starts_with("OOM"));
    if (may_grow && refusals_.out_of_memory && (from_ == origin::client || !is_refused))
        throw command_error("OOM command not allowed when used memory > 'maxmemory'.");
    if (is_refused) throw command_error(refusals_.error);
}

namespace command_functions {

bool is_option(std::string_view word, std::string_view option) noexcept {
    return std::ranges::equal(word, option, [](unsigned char letter, unsigned char wanted) {
        return std::toupper(letter) == wanted;
    });
}

void throw_syntax_error() { throw command_error("ERR syntax error"); }

std::int64_t sum_of(std::int64_t number, std::int64_t increment) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(number, increment, &sum))
        throw command_error("ERR increment or decrement would overflow");
    return sum;
}

std::optional<index_range> clip_range(std::int64_t first, std::int64_t last,
                                      std::size_t size) noexcept {
    const auto count = static_cast<std::int64_t>(size);
    if (first < 0) first = std::max<std::int64_t>(first + count, 0);
    if (last < 0) last += count;
    if (first > last || first >= count) return std::nullopt;
    return index_range{first, std::min(last, count - 1)};
}

}  // namespace command_functions
}  // namespace pawl::simulation
