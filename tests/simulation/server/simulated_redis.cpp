// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "simulated_redis.hpp"

#include "../bugs/script_bugs.hpp"
#include "known_scripts.hpp"
#include "replies.hpp"
#include "slots.hpp"

#include <algorithm>

namespace pawl::simulation {
namespace {

// The subset of Redis' glob patterns that Pawl uses: literal text, `\` before special signs, `*`.
bool matches(std::string_view pattern, std::string_view text) {
    std::size_t position = 0;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '*' && i + 1 == pattern.size()) return true;
        if (pattern[i] == '*') {
            const auto rest = pattern.substr(i + 1);
            for (; position <= text.size(); ++position)
                if (matches(rest, text.substr(position))) return true;
            return false;
        }
        if (pattern[i] == '\\') ++i;
        if (position >= text.size() || text[position++] != pattern[i]) return false;
    }
    return position == text.size();
}

}  // namespace

simulated_redis::simulated_redis(push_sink pushes, injected_bug bug, std::string name)
    : push_(std::move(pushes)), bug_(bug), name_(std::move(name)) {}

void simulated_redis::set_clock(std::int64_t us) {
    for (auto& each : stores_)
        each.set_clock(us);
}

simulated_redis::snapshot simulated_redis::take_snapshot() const {
    snapshot result;
    for (std::size_t i = 0; i < database_count; ++i)
        result[i] = stores_[i].copy_keys();
    return result;
}

redis::reply simulated_redis::execute(connection from, const words& command) {
    const auto selected = selected_databases_.find(from);
    database_ = selected == selected_databases_.end() ? 0 : selected->second;
    const bool cache = caches_next_.erase(from) > 0;
    is_redirected_ = redirected_.erase(from) > 0;
    selected_store().begin_journal(cache, !cached_keys_.empty());
    redis::reply reply;
    try {
        reply = dispatch(from, command);
    } catch (const command_error& error) {
        reply = error_reply(error.what());
    }
    invalidate_written(from);
    if (cache) remember_cached(from);
    return reply;
}

redis::reply simulated_redis::dispatch(connection from, const words& command) {
    const auto& verb = command.front();
    if (verb == "EVALSHA" || verb == "EVAL") return run_script(command);
    if (verb == "HELLO") {
        // The whole handshake in one command: identity, time, whether this is a node of a
        // cluster, and the role as a redis::server_role. It switches tracking on.
        tracking_.insert(from);
        return array_reply({string_reply(run_id()), integer_reply(selected_store().now_us()),
                            integer_reply(is_cluster_node_), integer_reply(is_replica_ ? 2 : 1)});
    }
    if (verb == "ASKING" && is_cluster_node_) {
        redirected_.insert(from);
        return string_reply("OK");
    }
    if ((verb == "CLUSTER" || verb == "INFO") && slots_ != nullptr) return slots_->answer(command);
    if (verb == "SCAN") return scan(command);
    if (verb == "SELECT") return select(from, command.at(1));
    if (verb == "SUBSCRIBE") return subscribe(channels_, from, command);
    if (verb == "UNSUBSCRIBE") return unsubscribe(channels_, from, command);
    if (verb == "SSUBSCRIBE") {
        check_slots(std::span(command).subspan(1), true);
        return subscribe(sharded_channels_, from, command);
    }
    if (verb == "SUNSUBSCRIBE") return unsubscribe(sharded_channels_, from, command);
    if (verb == "CLIENT" && command.at(1) == "CACHING") {
        if (!tracking_.contains(from))
            return error_reply(
                "ERR CLIENT CACHING can be called only when the client is in tracking "
                "mode with OPTIN or OPTOUT mode enabled");
        caches_next_.insert(from);
        return string_reply("OK");
    }
    return run_plain(command);
}

redis::reply simulated_redis::run_plain(const words& command) {
    const std::vector<std::string_view> views(command.begin(), command.end());
    command_session session(command_session::origin::client, selected_store(), *this, refusals_);
    if (slots_ != nullptr) session.serve_only(*slots_, is_redirected_);
    reply_builder reply;
    session.execute(views, reply);
    return reply.take();
}

redis::reply simulated_redis::select(connection from, const std::string& database) {
    const auto selected = std::stoul(database);
    if (selected >= database_count) return error_reply("ERR DB index is out of range");
    selected_databases_[from] = selected;
    return string_reply("OK");
}

redis::reply simulated_redis::subscribe(subscribers& channels, connection from,
                                        const words& command) {
    for (auto channel = command.begin() + 1; channel != command.end(); ++channel)
        channels[*channel].insert(from);
    return nil_reply();
}

redis::reply simulated_redis::unsubscribe(subscribers& channels, connection from,
                                          const words& command) {
    const auto it = channels.find(command.at(1));
    if (it != channels.end() && it->second.erase(from) > 0 && it->second.empty())
        channels.erase(it);
    return nil_reply();
}

const simulated_redis::loaded_script* simulated_redis::find_script(const words& command) {
    if (command[0] == "EVALSHA") {
        const auto it = scripts_.find(command.at(1));
        return it == scripts_.end() ? nullptr : &it->second;
    }
    const auto& text = command.at(1);
    const auto* const known = simulation::find_script(text);
    const auto sha1 = known != nullptr ? std::string(known->code->sha1) : sha1_hex(text);
    const auto it = scripts_.find(sha1);
    if (it != scripts_.end()) return &it->second;
    const auto code = lua_host::of_this_thread().compile(
        known != nullptr ? with_limits(inject_script_bug(bug_, *known), script_limits_)
        : edit_script_   ? edit_script_(text)
                         : text);
    return &scripts_.emplace(sha1, loaded_script{sha1, code}).first->second;
}

redis::reply simulated_redis::run_script(const words& command) {
    if (!script_refusal_.empty()) throw command_error(script_refusal_);
    const std::span<const std::string> all(command);
    const auto key_count = std::stoul(command.at(2));
    const auto keys = all.subspan(3, key_count);
    check_slots(keys, false);
    const auto* const script = find_script(command);
    if (script == nullptr) return error_reply("NOSCRIPT No matching script. Please use EVAL.");
    command_session session(command_session::origin::script, selected_store(), *this, refusals_);
    // A node with all slots is stricter than a real one, which lets a script use any of its slots.
    if (slots_ != nullptr)
        session.serve_only(*slots_, is_redirected_);
    else if (is_cluster_node_ && !keys.empty())
        session.stay_in_slot_of(keys.front());
    return lua_host::of_this_thread().run(
        {script->code, script->sha1, keys, all.subspan(3 + key_count)}, session);
}

redis::reply simulated_redis::scan(const words& command) {
    const auto match = std::ranges::find(command, "MATCH");
    std::vector<redis::reply> found_keys;
    for (const auto& [key, entry] : selected_store().all()) {
        if (match == command.end() || matches(*std::next(match), key))
            found_keys.push_back(string_reply(key));
    }
    return array_reply({string_reply("0"), array_reply(std::move(found_keys))});
}

void simulated_redis::set_replica(bool is_replica) {
    is_replica_ = is_replica;
    refuse(is_replica ? "READONLY You can't write against a read only replica." : "", false);
}

void simulated_redis::join_cluster(const served_slots& slots, bus_sink bus) {
    is_cluster_node_ = true;
    slots_ = &slots;
    bus_ = std::move(bus);
}

void simulated_redis::check_slots(std::span<const std::string> names, bool are_channels) {
    if (slots_ != nullptr && !names.empty()) {
        const std::vector<std::string_view> views(names.begin(), names.end());
        const auto refusal =
            slots_->refusal({views, are_channels, is_redirected_}, selected_store());
        if (!refusal.empty()) throw command_error(refusal);
        return;
    }
    const auto is_elsewhere = [&](const std::string& name) {
        return slot_of(name) != slot_of(names.front());
    };
    if (is_cluster_node_ && std::ranges::any_of(names, is_elsewhere))
        throw command_error("CROSSSLOT Keys in request don't hash to the same slot");
}

std::int64_t simulated_redis::publish(std::string_view channel, std::string_view payload,
                                      bool sharded) {
    if (bus_ && !sharded) bus_(channel, payload);
    const auto& channels = sharded ? sharded_channels_ : channels_;
    const auto it = channels.find(channel);
    if (it == channels.end()) return 0;
    for (const auto to : it->second)
        push_(to, {sharded ? "smessage" : "message", std::string(channel), std::string(payload)});
    return static_cast<std::int64_t>(it->second.size());
}

void simulated_redis::deliver(std::string_view channel, std::string_view payload) {
    const auto it = channels_.find(channel);
    if (it == channels_.end()) return;
    for (const auto to : it->second)
        push_(to, {"message", std::string(channel), std::string(payload)});
}

void simulated_redis::leave_slot(std::size_t slot) {
    for (auto it = sharded_channels_.begin(); it != sharded_channels_.end();) {
        const auto current = it++;
        if (slot_of(current->first) != slot) continue;
        for (const auto to : current->second)
            push_(to, {"sunsubscribe", current->first});
        sharded_channels_.erase(current);
    }
}

std::int64_t simulated_redis::subscriber_count(std::string_view channel, bool sharded) const {
    const auto& channels = sharded ? sharded_channels_ : channels_;
    const auto it = channels.find(channel);
    return it == channels.end() ? 0 : static_cast<std::int64_t>(it->second.size());
}

void simulated_redis::remember_cached(connection from) {
    for (const auto& key : selected_store().current_journal().read)
        cached_keys_[key].insert(from);
}

// One invalidation per read. NOLOOP: a client is not notified of its own changes.
void simulated_redis::invalidate_written(connection from) {
    for (const auto& key : selected_store().current_journal().written) {
        const auto it = cached_keys_.find(key);
        if (it == cached_keys_.end()) continue;
        for (const auto to : it->second)
            if (to != from) push_(to, {"invalidate", key});
        cached_keys_.erase(it);
    }
}

void simulated_redis::expire() {
    for (database_ = 0; database_ < database_count; ++database_) {
        selected_store().begin_journal(false, true);
        static_cast<void>(selected_store().all());
        invalidate_written(0);
    }
    database_ = 0;
}

std::int64_t simulated_redis::next_cached_expiry() const {
    std::int64_t first = -1;
    for (const auto& [key, readers] : cached_keys_) {
        for (const auto& each : stores_) {
            const auto* const entry = each.peek(key);
            if (entry == nullptr || !entry->expires_ms) continue;
            if (first < 0 || *entry->expires_ms < first) first = *entry->expires_ms;
        }
    }
    return first;
}

void simulated_redis::disconnect(connection closed) {
    for (auto* const table : {&channels_, &sharded_channels_, &cached_keys_}) {
        for (auto it = table->begin(); it != table->end();) {
            it->second.erase(closed);
            it = it->second.empty() ? table->erase(it) : std::next(it);
        }
    }
    tracking_.erase(closed);
    caches_next_.erase(closed);
    redirected_.erase(closed);
    selected_databases_.erase(closed);
}

void simulated_redis::flush_all() { roll_back({}); }

void simulated_redis::roll_back(snapshot to) {
    for (std::size_t i = 0; i < database_count; ++i)
        stores_[i].replace(std::move(to[i]));
    cached_keys_.clear();
    for (const auto each : tracking_)
        push_(each, {"invalidate", ""});
}

void simulated_redis::evict(std::size_t database, std::string_view key) {
    database_ = database;
    selected_store().begin_journal(false, true);
    selected_store().erase(key);
    invalidate_written(0);
}

void simulated_redis::restore(std::string_view key, store::entry with) {
    database_ = 0;
    selected_store().begin_journal(false, true);
    selected_store().restore(key, std::move(with));
    invalidate_written(0);
}

void simulated_redis::refuse(std::string error, bool at_once) {
    refusals_.error = at_once ? std::string() : error;
    script_refusal_ = at_once ? std::move(error) : std::string();
}

void simulated_redis::restart(snapshot with) {
    for (std::size_t i = 0; i < database_count; ++i)
        stores_[i].replace(std::move(with[i]));
    selected_databases_.clear();
    channels_.clear();
    sharded_channels_.clear();
    cached_keys_.clear();
    tracking_.clear();
    caches_next_.clear();
    redirected_.clear();
    scripts_.clear();
    ++run_number_;
}

}  // namespace pawl::simulation
