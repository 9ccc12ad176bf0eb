#include "cross_check.hpp"

#include "known_scripts.hpp"
#include "twins.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

namespace pawl::simulation {
namespace {

// Type, time left and content of each key.
constexpr const char* dump_script = R"lua(
local all = {}
for i, key in ipairs(KEYS) do
    local kind = redis.call("TYPE", key).ok
    local content = false
    if kind == "string" then content = redis.call("GET", key)
    elseif kind == "zset" then content = redis.call("ZRANGE", key, 0, -1, "WITHSCORES")
    elseif kind == "hash" then content = redis.call("HGETALL", key) end
    all[i] = {kind, redis.call("PTTL", key), content}
end
return all)lua";

// HGETALL has no order of its own.
void sort_hash(redis::reply& fields) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2)
        pairs.emplace_back(fields.items[i].text, fields.items[i + 1].text);
    std::ranges::sort(pairs);
    fields.items.clear();
    for (auto& [name, value] : pairs) {
        fields.items.push_back(string_reply(std::move(name)));
        fields.items.push_back(string_reply(std::move(value)));
    }
}

void compare(const std::string& what, const std::string& twin, const std::string& real) {
    if (twin != real) throw std::runtime_error(what + "\n twin: " + twin + "\n real: " + real);
}

std::string describe(const operation& what) {
    std::string line = what.script;
    for (const auto& list : {what.keys, what.arguments})
        for (const auto& word : list)
            line += " '" + word + "'";
    return line;
}

}  // namespace

cross_check::cross_check(words channels, words keys, outcome of)
    : channels_(std::move(channels)),
      keys_(std::move(keys)),
      outcome_(of),
      publish_([this](std::string_view channel, std::string_view payload) -> std::int64_t {
          if (std::ranges::find(channels_, channel) == channels_.end()) return 0;
          published_.push_back(std::string(channel) + " " + std::string(payload));
          return 1;
      }) {
    load_scripts();
    for (const auto& channel : channels_)
        static_cast<void>(heard_.ask(words{"SUBSCRIBE", channel}));
}

void cross_check::load_scripts() {
    for (const auto& each : known_scripts()) {
        const auto loaded = commands_.ask(words{"SCRIPT", "LOAD", std::string(each.code->text)});
        compare(std::string(each.name), std::string(each.code->sha1), loaded.text);
    }
    dump_sha1_ = commands_.ask(words{"SCRIPT", "LOAD", dump_script}).text;
}

void cross_check::play(std::int64_t now_us, std::span<const operation> batch) {
    twins_.set_clock(now_us);
    server_.set_clock(now_us);
    for (const auto& one : batch)
        queue(one);
    commands_.flush();
    for (const auto& one : batch) {
        const auto where =
            describe(one) + " at " + text(now_us) + ", operation " + text(played_++) + ": ";
        const auto answer = run_twin(one);
        ++seen_[outcome_(one, answer)];
        auto really = commands_.read();
        if (one.script == "inspect" && really.items.size() == 7) sort_hash(really.items[5]);
        compare(where + "the answer", to_string(answer), to_string(really));
        compare(where + "the keys", to_string(dump_twins()), to_string(read_dump()));
    }
    compare_messages();
}

void cross_check::compare_messages() {
    for (; !published_.empty(); published_.pop_front(), ++messages_) {
        const auto message = heard_.read();
        compare("a message", published_.front(),
                message.items.at(1).text + " " + message.items.at(2).text);
    }
}

std::string cross_check::value_of(const std::string& key) {
    const auto it = twins_.all().find(key);
    if (it == twins_.all().end()) return {};
    const auto* const value = std::get_if<std::string>(&it->second.content);
    return value ? *value : std::string();
}

std::string cross_check::value_of(const std::string& key, const std::string& field) {
    const auto it = twins_.all().find(key);
    if (it == twins_.all().end()) return {};
    const auto* const fields = std::get_if<store::hash>(&it->second.content);
    if (fields == nullptr) return {};
    const auto at = fields->find(field);
    return at == fields->end() ? std::string() : at->second;
}

words cross_check::seldom(std::span<const char* const> outcomes, int times) const {
    words found;
    for (const char* const one : outcomes) {
        const auto it = seen_.find(one);
        if (it == seen_.end() || it->second <= times) found.emplace_back(one);
    }
    return found;
}

redis::reply cross_check::run_twin(const operation& what) {
    twins_.begin_journal();
    try {
        if (what.script.empty()) return run_plain(what.arguments);
        script_call call{twins_, publish_, what.keys, what.arguments};
        return find_twin(what.script)(call);
    } catch (const command_error& error) {
        return error_reply(error.what());
    }
}

redis::reply cross_check::run_plain(const words& command) {
    const auto& verb = command[0];
    if (full_ && (verb == "SET" || verb == "HSET"))
        throw command_error("OOM command not allowed when used memory > 'maxmemory'.");
    if (verb == "SET") {
        const auto px =
            command.size() > 4 ? std::optional<std::int64_t>(std::stoll(command[4])) : std::nullopt;
        const bool set = twins_.set(command[1], command[2], px, command.back() == "NX");
        return set ? string_reply("OK") : nil_reply();
    }
    if (verb == "HSET") {
        const bool there = twins_.hget(command[1], command[2]).has_value();
        twins_.hset(command[1], command[2], command[3]);
        return integer_reply(there ? 0 : 1);
    }
    if (verb == "PEXPIRE")
        return integer_reply(twins_.pexpire(command[1], std::stoll(command[2])) ? 1 : 0);
    if (verb == "CONFIG") {
        full_ = command.back() != "0";
        twins_.set_full(full_);
        return string_reply("OK");
    }
    if (verb == "DEL") return integer_reply(twins_.del(command[1]) ? 1 : 0);
    twins_.clear();
    return string_reply("OK");
}

redis::reply cross_check::dump_twins() {
    std::vector<redis::reply> rows;
    for (const auto& name : keys_) {
        const auto it = twins_.all().find(name);
        rows.push_back(it == twins_.all().end()
                           ? array_reply({string_reply("none"), integer_reply(-2), nil_reply()})
                           : row(name, it->second));
    }
    return array_reply(std::move(rows));
}

redis::reply cross_check::row(const std::string& name, const store::entry& entry) {
    std::vector<redis::reply> items;
    const char* kind = "string";
    redis::reply content;
    if (const auto* const value = std::get_if<std::string>(&entry.content)) {
        content = string_reply(*value);
    } else if (const auto* const set = std::get_if<store::sorted_set>(&entry.content)) {
        kind = "zset";
        for (const auto& [score, member] : set->order) {
            items.push_back(string_reply(member));
            items.push_back(string_reply(text(static_cast<std::int64_t>(score))));
        }
        content = array_reply(std::move(items));
    } else {
        kind = "hash";
        for (const auto& [field, value_of] : std::get<store::hash>(entry.content)) {
            items.push_back(string_reply(field));
            items.push_back(string_reply(value_of));
        }
        content = array_reply(std::move(items));
    }
    return array_reply({string_reply(kind), integer_reply(twins_.pttl(name)), std::move(content)});
}

void cross_check::queue(const operation& what) {
    if (what.script.empty()) {
        commands_.queue(what.arguments);
    } else {
        const auto it = std::ranges::find(known_scripts(), what.script, &known_script::name);
        queue_script(std::string(it->code->sha1), what.keys, what.arguments);
    }
    queue_script(dump_sha1_, keys_, {});
}

void cross_check::queue_script(const std::string& sha1, const words& keys, const words& arguments) {
    words all{"EVALSHA", sha1, std::to_string(keys.size())};
    all.insert(all.end(), keys.begin(), keys.end());
    all.insert(all.end(), arguments.begin(), arguments.end());
    commands_.queue(all);
}

redis::reply cross_check::read_dump() {
    auto all = commands_.read();
    for (auto& one : all.items)
        if (one.items.at(0).text == "hash") sort_hash(one.items.at(2));
    return all;
}

}  // namespace pawl::simulation
