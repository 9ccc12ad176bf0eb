// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Hashes. Their order, which Redis leaves open, is that of the names.
#include "command_functions.hpp"

#include "numbers.hpp"

namespace pawl::simulation::command_functions {
namespace {

using hash = store::hash;

const hash& fields_of(const command_call& call) {
    static const hash none;
    const auto* const fields = call.data.find_as<hash>(call.words[1]);
    return fields == nullptr ? none : *fields;
}

void write_value(const command_call& call, const hash& fields, std::string_view field) {
    const auto it = fields.find(field);
    if (it == fields.end()) return call.reply.nil();
    call.reply.bulk(it->second);
}

}  // namespace

void hget(const command_call& call) { write_value(call, fields_of(call), call.words[2]); }

void hmget(const command_call& call) {
    const auto& fields = fields_of(call);
    call.reply.array(call.words.size() - 2);
    for (const auto field : call.words.subspan(2))
        write_value(call, fields, field);
}

void hset(const command_call& call) {
    if (call.words.size() % 2 == 1)
        throw command_error("ERR wrong number of arguments for 'hset' command");
    auto& fields = call.data.find_or_create<hash>(call.words[1]);
    std::int64_t added = 0;
    for (std::size_t i = 2; i < call.words.size(); i += 2) {
        const auto it = fields.find(call.words[i]);
        if (it != fields.end()) {
            it->second = call.words[i + 1];
        } else {
            fields.emplace(call.words[i], call.words[i + 1]);
            ++added;
        }
    }
    call.data.note_written(call.words[1]);
    call.reply.integer(added);
}

void hdel(const command_call& call) {
    auto* const fields = call.data.find_as<hash>(call.words[1]);
    std::int64_t erased = 0;
    if (fields != nullptr) {
        for (const auto field : call.words.subspan(2)) {
            const auto it = fields->find(field);
            if (it == fields->end()) continue;
            fields->erase(it);
            ++erased;
        }
        if (erased > 0) call.data.note_written(call.words[1]);
        call.data.erase_if_empty(call.words[1], *fields);
    }
    call.reply.integer(erased);
}

void hexists(const command_call& call) {
    call.reply.integer(fields_of(call).contains(call.words[2]) ? 1 : 0);
}

void hgetall(const command_call& call) {
    const auto& fields = fields_of(call);
    call.reply.array(2 * fields.size());
    for (const auto& [field, value] : fields) {
        call.reply.bulk(field);
        call.reply.bulk(value);
    }
}

void hkeys(const command_call& call) {
    const auto& fields = fields_of(call);
    call.reply.array(fields.size());
    for (const auto& [field, value] : fields)
        call.reply.bulk(field);
}

void hlen(const command_call& call) {
    call.reply.integer(static_cast<std::int64_t>(fields_of(call).size()));
}

void hincrby(const command_call& call) {
    const auto by = to_integer(call.words[3]);
    auto& fields = call.data.find_or_create<hash>(call.words[1]);
    const auto it = fields.find(call.words[2]);
    const auto before =
        it == fields.end() ? 0 : to_integer(it->second, "ERR hash value is not an integer");
    const auto number = sum_of(before, by);
    if (it != fields.end())
        it->second = std::to_string(number);
    else
        fields.emplace(call.words[2], std::to_string(number));
    call.data.note_written(call.words[1]);
    call.reply.integer(number);
}

// Redis chooses any field. A scenario must be repeatable, so this is the first.
void hrandfield(const command_call& call) {
    const auto& fields = fields_of(call);
    if (fields.empty()) return call.reply.nil();
    call.reply.bulk(fields.begin()->first);
}

}  // namespace pawl::simulation::command_functions
