// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "command_check.hpp"

#include "replies.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pawl::simulation {
namespace {

// The type, the remaining time and the content of each key. Redis leaves the order of a hash open.
const std::string dump_script = R"lua(
local function sorted(fields)
    local pairs_of = {}
    for i = 1, #fields, 2 do pairs_of[#pairs_of + 1] = {fields[i], fields[i + 1]} end
    table.sort(pairs_of, function(a, b) return a[1] < b[1] end)
    return pairs_of
end
local all = {}
for i, key in ipairs(KEYS) do
    local kind = redis.call("TYPE", key).ok
    local content = false
    if kind == "string" then content = redis.call("GET", key)
    elseif kind == "list" then content = redis.call("LRANGE", key, 0, -1)
    elseif kind == "zset" then content = redis.call("ZRANGE", key, 0, -1, "WITHSCORES")
    elseif kind == "hash" then content = sorted(redis.call("HGETALL", key)) end
    all[i] = {kind, redis.call("PTTL", key), content}
end
return all)lua";

void append_text(const redis::reply& reply, std::string& text) {
    using kind = redis::reply::kind;
    switch (reply.type) {
    case kind::nil: text += "nil"; return;
    case kind::integer: text += std::to_string(reply.number); return;
    case kind::string: text += '"' + reply.text + '"'; return;
    case kind::error: text += "error " + reply.text; return;
    case kind::array: break;
    }
    text += '[';
    for (const auto& item : reply.items) {
        append_text(item, text);
        text += ' ';
    }
    text += ']';
}

std::string full_text(const redis::reply& reply) {
    std::string text;
    append_text(reply, text);
    return text;
}

bool is(const std::string& word, std::string_view name) {
    const auto* const found = find_command(word);
    return found != nullptr && found->name == name;
}

// What Redis leaves open: the order of a hash, and the choice of HRANDFIELD.
void leave_out_open_parts(const checked_command& command, redis::reply& reply) {
    if (command.arguments.empty() || reply.type == redis::reply::kind::error) return;
    const auto& name = command.arguments.front();
    if (is(name, "HRANDFIELD")) reply.text.clear();
    if (!is(name, "HKEYS") && !is(name, "HGETALL")) return;
    const std::size_t step = is(name, "HGETALL") ? 2 : 1;
    std::vector<std::string> rows;
    for (std::size_t i = 0; i + step <= reply.items.size(); i += step)
        rows.push_back(reply.items[i].text + (step == 2 ? " " + reply.items[i + 1].text : ""));
    std::ranges::sort(rows);
    reply.items.clear();
    for (auto& row : rows)
        reply.items.push_back(string_reply(std::move(row)));
}

void compare(const std::string& subject, const std::string& simulated, const std::string& real) {
    if (simulated != real)
        throw std::runtime_error(subject + "\n simulated: " + simulated + "\n real: " + real);
}

std::string describe(const checked_command& command) {
    auto text = command.script;
    for (const auto& word : command.arguments)
        text += " '" + word + "'";
    return text;
}

}  // namespace

command_check::command_check(words keys, words channels, words sharded_channels)
    : keys_(std::move(keys)),
      channels_(std::move(channels)),
      sharded_channels_(std::move(sharded_channels)) {
    for (const auto& channel : channels_)
        static_cast<void>(subscriber_.execute(words{"SUBSCRIBE", channel}));
    for (const auto& channel : sharded_channels_)
        static_cast<void>(subscriber_.execute(words{"SSUBSCRIBE", channel}));
}

void command_check::play(std::int64_t now_us, std::span<const checked_command> batch) {
    data_.set_clock(now_us);
    server_.set_clock(now_us);
    for (const auto& command : batch)
        queue(command);
    commands_.flush();
    for (const auto& command : batch) {
        const auto subject = describe(command) + " at " + std::to_string(now_us) + ", command " +
                             std::to_string(command_count_++) + ": ";
        auto reply = execute(command);
        auto real = commands_.read();
        count_outcome(command, real);
        leave_out_open_parts(command, reply);
        leave_out_open_parts(command, real);
        compare(subject + "the reply", full_text(reply), full_text(real));
        compare(subject + "the keys", full_text(run_script(dump_script, keys_, {}, {})),
                full_text(commands_.read()));
    }
    compare_messages();
}

void command_check::set_out_of_memory(bool enabled) {
    refusals_.out_of_memory = enabled;
    static_cast<void>(commands_.execute(words{"CONFIG", "SET", "maxmemory", enabled ? "1" : "0"}));
}

void command_check::set_replicas_missing(bool enabled) {
    refusals_.error = enabled ? "NOREPLICAS Not enough good replicas to write." : "";
    static_cast<void>(
        commands_.execute(words{"CONFIG", "SET", "min-replicas-to-write", enabled ? "1" : "0"}));
}

redis::reply command_check::execute(checked_command command) {
    data_.begin_journal(false, false);
    injected_error_(command.arguments);
    if (!command.script.empty())
        return run_script(command.script, {}, command.arguments, refusals_);
    const std::vector<std::string_view> views(command.arguments.begin(), command.arguments.end());
    command_session session(command_session::origin::client, data_, *this, refusals_);
    reply_builder reply;
    try {
        session.execute(views, reply);
    } catch (const command_error& error) {
        return error_reply(error.what());
    }
    return reply.take();
}

redis::reply command_check::run_script(const std::string& text, std::span<const std::string> keys,
                                       std::span<const std::string> arguments,
                                       const write_refusals& refused) {
    command_session session(command_session::origin::script, data_, *this, refused);
    const auto sha1 = sha1_hex(text);
    return lua_.run({lua_.compile(text), sha1, keys, arguments}, session);
}

void command_check::queue(const checked_command& command) {
    if (command.script.empty()) {
        commands_.queue(command.arguments);
    } else {
        words all{"EVAL", command.script, "0"};
        all.insert(all.end(), command.arguments.begin(), command.arguments.end());
        commands_.queue(all);
    }
    words dump{"EVAL", dump_script, std::to_string(keys_.size())};
    dump.insert(dump.end(), keys_.begin(), keys_.end());
    commands_.queue(dump);
}

bool command_check::is_subscribed(std::string_view channel, bool sharded) const {
    return std::ranges::count(sharded ? sharded_channels_ : channels_, channel) > 0;
}

std::int64_t command_check::publish(std::string_view channel, std::string_view payload,
                                    bool sharded) {
    if (!is_subscribed(channel, sharded)) return 0;
    published_.push_back(std::string(channel) + " " + std::string(payload));
    return 1;
}

std::int64_t command_check::subscriber_count(std::string_view channel, bool sharded) const {
    return is_subscribed(channel, sharded) ? 1 : 0;
}

void command_check::compare_messages() {
    for (; !published_.empty(); published_.pop_front(), ++message_count_) {
        const auto message = subscriber_.read();
        compare("a message", published_.front(),
                message.items.at(1).text + " " + message.items.at(2).text);
    }
}

void command_check::count_outcome(const checked_command& command, const redis::reply& reply) {
    using kind = redis::reply::kind;
    if (command.arguments.empty()) return;
    auto outcome = command.arguments.front() + " ";
    switch (reply.type) {
    case kind::nil: outcome += "nil"; break;
    case kind::integer: outcome += "integer"; break;
    case kind::string: outcome += "text"; break;
    case kind::array: outcome += reply.items.empty() ? "empty" : "array"; break;
    case kind::error: outcome += reply.text.substr(0, reply.text.find(' ')); break;
    }
    ++outcomes_[outcome];
}

}  // namespace pawl::simulation
