// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The Redis commands that Pawl's and Redisson's scripts use, and the rules under which a server
// executes or refuses a command.
#pragma once

#include "reply_sink.hpp"
#include "served_slots.hpp"
#include "store.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pawl::simulation {

// The subscribers of a server.
class pubsub {
public:
    virtual ~pubsub() = default;
    // Returns the number of receivers. `sharded`: SPUBLISH, which has channels of its own.
    virtual std::int64_t publish(std::string_view channel, std::string_view payload,
                                 bool sharded) = 0;
    [[nodiscard]] virtual std::int64_t subscriber_count(std::string_view channel,
                                                        bool sharded) const = 0;
};

// Why the server refuses writes. A script that has written may write on.
struct write_refusals {
    bool out_of_memory = false;  // `noeviction`: refuses commands that may need memory
    std::string error;  // empty: none. "OOM …" refuses only commands that may need memory
};

struct command_call {
    std::span<const std::string_view> words;  // the command's name is the first
    store& data;
    pubsub& channels;
    reply_sink& reply;
};

struct command {
    enum flag : std::uint8_t { none = 0, reads = 1, writes = 2, needs_memory = 4 };

    std::string_view name;
    int arity;  // the number of words; at least -arity if it is negative
    std::uint8_t flags;
    int first_key, last_key, key_step;  // 0: no keys; a last key of -1 is the last word
    void (*run)(const command_call& call);
};

// In any case of letters. Null if there is none.
[[nodiscard]] const command* find_command(std::string_view name) noexcept;

// The commands of one script, or one command of a client.
class command_session {
public:
    enum class origin : std::uint8_t { client, script };

    command_session(origin from, store& data, pubsub& channels, const write_refusals& refused)
        : data_(data), channels_(channels), refusals_(refused), from_(from) {}

    // From now on a command of a script fails if one of its keys, or its sharded channel, is in
    // another slot than this key.
    void stay_in_slot_of(std::string_view key) noexcept;
    // From now on a command fails if the node does not serve its keys.
    void serve_only(const served_slots& slots, bool is_asking) noexcept {
        slots_ = &slots;
        is_redirected_ = is_asking;
    }
    // Throws `command_error`; then nothing was written into `reply`.
    void execute(std::span<const std::string_view> words, reply_sink& reply);

private:
    void check_write(const command& command) const;
    void check_slots(const command& command, std::span<const std::string_view> words);

    store& data_;
    pubsub& channels_;
    const write_refusals& refusals_;
    const origin from_;
    std::optional<std::size_t> slot_;  // of the script
    const served_slots* slots_ = nullptr;
    bool is_redirected_ = false;
    bool has_written_ = false;
};

}  // namespace pawl::simulation
