#include "simulated_redis.hpp"

#include "known_scripts.hpp"

#include <algorithm>

namespace pawl::simulation {
namespace {

// Redis' glob, as far as Pawl asks for it: literal text, `\` before special signs, `*` at the end.
bool matches(std::string_view pattern, std::string_view text) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '*' && i + 1 == pattern.size()) return true;
        if (pattern[i] == '*') {
            const auto rest = pattern.substr(i + 1);
            for (; at <= text.size(); ++at)
                if (matches(rest, text.substr(at))) return true;
            return false;
        }
        if (pattern[i] == '\\') ++i;
        if (at >= text.size() || text[at++] != pattern[i]) return false;
    }
    return at == text.size();
}

}  // namespace

simulated_redis::simulated_redis(push_sink pushes, planted bug)
    : pushes_(std::move(pushes)),
      bug_(bug),
      publish_([this](auto channel, auto payload) { return publish(channel, payload); }) {}

void simulated_redis::set_clock(std::int64_t us) {
    for (auto& each : stores_)
        each.set_clock(us);
}

void simulated_redis::set_full(bool on) {
    for (auto& each : stores_)
        each.set_full(on);
}

simulated_redis::snapshot simulated_redis::copy() const {
    snapshot made;
    for (std::size_t i = 0; i < databases; ++i)
        made[i] = stores_[i].copy();
    return made;
}

redis::reply simulated_redis::execute(connection from, const words& command) {
    const auto chosen = selected_.find(from);
    database_ = chosen == selected_.end() ? 0 : chosen->second;
    keys().begin_journal();
    const bool cache = caching_next_.erase(from) > 0;
    redis::reply answer;
    if (!refuses_at_once_) keys().refuse_writes(refusal_);
    try {
        answer = dispatch(from, command);
    } catch (const command_error& error) {
        answer = error_reply(error.what());
    }
    keys().refuse_writes({});
    tell_of_writes(from);
    if (cache) remember_reads(from);
    return answer;
}

redis::reply simulated_redis::dispatch(connection from, const words& command) {
    const auto& verb = command.front();
    if (verb == "EVALSHA") return evaluate(command, false);
    if (verb == "EVAL") return evaluate(command, true);
    if (verb == "HELLO") {
        // The whole greeting in one: who the server is, its time, and tracking switched on.
        tracking_.insert(from);
        return array_reply({string_reply(run_id()), integer_reply(keys().now_us())});
    }
    if (verb == "PING") return string_reply("PONG");
    if (verb == "TIME")
        return array_reply({string_reply(std::to_string(keys().now_us() / 1'000'000)),
                            string_reply(std::to_string(keys().now_us() % 1'000'000))});
    if (verb == "GET") {
        auto value = keys().get(command.at(1));
        return value ? string_reply(std::move(*value)) : nil_reply();
    }
    if (verb == "PTTL") return integer_reply(keys().pttl(command.at(1)));
    if (verb == "SCAN") return scan(command);
    if (verb == "SELECT") return select(from, command.at(1));
    if (verb == "SUBSCRIBE") return subscribe(from, command);
    if (verb == "UNSUBSCRIBE") return unsubscribe(from, command);
    if (verb == "PUBSUB") {
        const auto it = channels_.find(command.at(2));
        const auto count = it == channels_.end() ? 0 : it->second.size();
        return array_reply(
            {string_reply(command[2]), integer_reply(static_cast<std::int64_t>(count))});
    }
    if (verb == "SET" && command.size() == 6 && command[3] == "NX" && command[4] == "PX")
        return keys().set(command[1], command[2], std::stoll(command[5]), true) ? string_reply("OK")
                                                                                : nil_reply();
    if (verb == "DEL") return integer_reply(keys().del(command.at(1)) ? 1 : 0);
    if (verb == "CLIENT" && command.at(1) == "CACHING") {
        if (!tracking_.contains(from))
            return error_reply(
                "ERR CLIENT CACHING can be called only when the client is in tracking "
                "mode with OPTIN or OPTOUT mode enabled");
        caching_next_.insert(from);
        return string_reply("OK");
    }
    return error_reply("ERR unknown command '" + verb + "'");
}

redis::reply simulated_redis::select(connection from, const std::string& database) {
    const auto chosen = std::stoul(database);
    if (chosen >= databases) return error_reply("ERR DB index is out of range");
    selected_[from] = chosen;
    return string_reply("OK");
}

redis::reply simulated_redis::subscribe(connection from, const words& command) {
    for (auto channel = command.begin() + 1; channel != command.end(); ++channel)
        channels_[*channel].insert(from);
    return nil_reply();
}

redis::reply simulated_redis::unsubscribe(connection from, const words& command) {
    const auto it = channels_.find(command.at(1));
    if (it != channels_.end() && it->second.erase(from) > 0 && it->second.empty())
        channels_.erase(it);
    return nil_reply();
}

redis::reply simulated_redis::evaluate(const words& command, bool by_text) {
    const auto* const which = find_script(command.at(1));
    if (which == nullptr || (!by_text && !known_.contains(which->code->sha1)))
        return error_reply("NOSCRIPT No matching script. Please use EVAL.");
    if (refuses_at_once_ && !refusal_.empty()) return error_reply(refusal_);
    known_.emplace(which->code->sha1);
    const auto first = command.begin() + 3;
    const auto arguments = first + std::stoll(command.at(2));
    script_call call{keys(), publish_, words(first, arguments), words(arguments, command.end()),
                     bug_};
    return find_twin(which->name)(call);
}

redis::reply simulated_redis::scan(const words& command) {
    const auto match = std::ranges::find(command, "MATCH");
    std::vector<redis::reply> found;
    for (const auto& [key, entry] : keys().all()) {
        if (match == command.end() || matches(*std::next(match), key))
            found.push_back(string_reply(key));
    }
    return array_reply({string_reply("0"), array_reply(std::move(found))});
}

std::int64_t simulated_redis::publish(std::string_view channel, std::string_view payload) {
    const auto it = channels_.find(channel);
    if (it == channels_.end()) return 0;
    for (const auto to : it->second)
        pushes_(to, {"message", std::string(channel), std::string(payload)});
    return static_cast<std::int64_t>(it->second.size());
}

void simulated_redis::remember_reads(connection from) {
    for (const auto& key : keys().journaled().read)
        cached_[key].insert(from);
}

// Told once: who wants to know of the next change reads again. NOLOOP: not of one's own changes.
void simulated_redis::tell_of_writes(connection from) {
    for (const auto& key : keys().journaled().written) {
        const auto it = cached_.find(key);
        if (it == cached_.end()) continue;
        for (const auto to : it->second)
            if (to != from) pushes_(to, {"invalidate", key});
        cached_.erase(it);
    }
}

void simulated_redis::expire() {
    for (database_ = 0; database_ < databases; ++database_) {
        keys().begin_journal();
        static_cast<void>(keys().all());
        tell_of_writes(0);
    }
    database_ = 0;
}

std::int64_t simulated_redis::next_cached_expiry() const {
    std::int64_t first = -1;
    for (const auto& [key, readers] : cached_) {
        for (const auto& each : stores_) {
            const auto it = each.peek()->find(key);
            if (it == each.peek()->end() || !it->second.expires_ms) continue;
            if (first < 0 || *it->second.expires_ms < first) first = *it->second.expires_ms;
        }
    }
    return first;
}

void simulated_redis::disconnect(connection gone) {
    for (auto* const table : {&channels_, &cached_}) {
        for (auto it = table->begin(); it != table->end();) {
            it->second.erase(gone);
            it = it->second.empty() ? table->erase(it) : std::next(it);
        }
    }
    tracking_.erase(gone);
    caching_next_.erase(gone);
    selected_.erase(gone);
}

void simulated_redis::flush_all() { go_back({}); }

void simulated_redis::go_back(snapshot to) {
    for (std::size_t i = 0; i < databases; ++i)
        stores_[i].replace(std::move(to[i]));
    cached_.clear();
    for (const auto each : tracking_)
        pushes_(each, {"invalidate", ""});
}

void simulated_redis::evict(std::size_t database, std::string_view key) {
    database_ = database;
    keys().begin_journal();
    keys().del(key);
    tell_of_writes(0);
}

void simulated_redis::refuse(std::string error, bool at_once) {
    refusal_ = std::move(error);
    refuses_at_once_ = at_once;
}

void simulated_redis::restart(snapshot with) {
    for (std::size_t i = 0; i < databases; ++i)
        stores_[i].replace(std::move(with[i]));
    selected_.clear();
    channels_.clear();
    cached_.clear();
    tracking_.clear();
    caching_next_.clear();
    known_.clear();
    ++runs_;
}

}  // namespace pawl::simulation
