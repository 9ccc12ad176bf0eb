// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Commands for keys of any type, and for the server: time and messages.
#include "command_functions.hpp"

#include "numbers.hpp"

#include <limits>

namespace pawl::simulation::command_functions {
namespace {

struct expiry_options {
    bool nx = false, xx = false, gt = false, lt = false;
};

expiry_options read_expiry_options(const command_call& call) {
    expiry_options options;
    for (const auto word : call.words.subspan(3)) {
        if (is_option(word, "NX"))
            options.nx = true;
        else if (is_option(word, "XX"))
            options.xx = true;
        else if (is_option(word, "GT"))
            options.gt = true;
        else if (is_option(word, "LT"))
            options.lt = true;
        else
            throw command_error("ERR Unsupported option " + std::string(word));
    }
    if (options.nx && (options.xx || options.gt || options.lt))
        throw command_error("ERR NX and XX, GT or LT options at the same time are not compatible");
    if (options.gt && options.lt)
        throw command_error("ERR GT and LT options at the same time are not compatible");
    return options;
}

bool allows(const expiry_options& options, std::optional<std::int64_t> present,
            std::int64_t wanted) {
    if (options.nx && present) return false;
    if (options.xx && !present) return false;
    if (options.gt && (!present || wanted <= *present)) return false;
    return !(options.lt && present && wanted >= *present);
}

void expire(const command_call& call, std::int64_t base_ms, const char* name) {
    const auto options = read_expiry_options(call);
    auto when = to_integer(call.words[2]);
    if (when > std::numeric_limits<std::int64_t>::max() - base_ms)
        throw command_error("ERR invalid expire time in '" + std::string(name) + "' command");
    when += base_ms;
    const auto key = call.words[1];
    auto* const stored = call.data.find(key);
    if (stored == nullptr || !allows(options, stored->expires_ms, when))
        return call.reply.integer(0);
    if (when <= call.data.now_ms()) {
        call.data.erase(key);
    } else {
        stored->expires_ms = when;
        call.data.note_written(key);
    }
    call.reply.integer(1);
}

void publish_message(const command_call& call, bool sharded) {
    call.reply.integer(call.channels.publish(call.words[1], call.words[2], sharded));
}

}  // namespace

void del(const command_call& call) {
    std::int64_t erased = 0;
    for (const auto key : call.words.subspan(1))
        erased += call.data.erase(key);
    call.reply.integer(erased);
}

void exists(const command_call& call) {
    std::int64_t existing = 0;
    for (const auto key : call.words.subspan(1))
        existing += call.data.find(key) != nullptr;
    call.reply.integer(existing);
}

void type(const command_call& call) {
    const auto* const stored = call.data.find(call.words[1]);
    if (stored == nullptr) return call.reply.status("none");
    // In the order of the variant.
    constexpr std::string_view names[] = {"string", "zset", "hash", "list"};
    call.reply.status(names[stored->content.index()]);
}

void pttl(const command_call& call) {
    const auto* const stored = call.data.find(call.words[1]);
    if (stored == nullptr) return call.reply.integer(-2);
    call.reply.integer(stored->expires_ms ? *stored->expires_ms - call.data.now_ms() : -1);
}

void pexpire(const command_call& call) { expire(call, call.data.now_ms(), "pexpire"); }

void pexpireat(const command_call& call) { expire(call, 0, "pexpireat"); }

void persist(const command_call& call) {
    auto* const stored = call.data.find(call.words[1]);
    if (stored == nullptr || !stored->expires_ms) return call.reply.integer(0);
    stored->expires_ms.reset();
    call.data.note_written(call.words[1]);
    call.reply.integer(1);
}

void ping(const command_call& call) {
    if (call.words.size() > 2)
        throw command_error("ERR wrong number of arguments for 'ping' command");
    if (call.words.size() == 2) return call.reply.bulk(call.words[1]);
    call.reply.status("PONG");
}

void time(const command_call& call) {
    const auto us = call.data.now_us();
    call.reply.array(2);
    call.reply.bulk(std::to_string(us / 1'000'000));
    call.reply.bulk(std::to_string(us % 1'000'000));
}

void publish(const command_call& call) { publish_message(call, false); }

void spublish(const command_call& call) { publish_message(call, true); }

void pubsub(const command_call& call) {
    const bool sharded = is_option(call.words[1], "SHARDNUMSUB");
    if (!sharded && !is_option(call.words[1], "NUMSUB"))
        throw command_error("ERR unknown subcommand '" + std::string(call.words[1]) + "'.");
    const auto channels = call.words.subspan(2);
    call.reply.array(2 * channels.size());
    for (const auto channel : channels) {
        call.reply.bulk(channel);
        call.reply.integer(call.channels.subscriber_count(channel, sharded));
    }
}

}  // namespace pawl::simulation::command_functions
