// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `once` with its records in Redis or Valkey, for effects in the same server. Standard headers
// only.
//
// If the effect is the script that `once` runs, there is at most one effect, and exactly one as
// soon as a caller gets `done` or `replayed`, until `keep` is over: record and effect are written
// in one step, and lost together if the server loses data. If the effect is outside
// (`at_least_once`), there are one or more, also because an asynchronous failover may lose a record
// whose effect stays: then the outside must refuse a repetition by the key. For effects in a
// database, keep the record there.
//
// The record of an operation is a hash. All keys of a scope have one hash tag: {SCOPE}, or {all}
// without a scope. A record is removed `keep` after its end; one that is unfinished never is, so
// the server must not evict keys (maxmemory-policy noeviction). The functions block and are
// thread-safe for different connections. They throw errc::bad_option for arguments out of range,
// the errors of `counters`, errc::lost also if the record was lost while the work ran, and what the
// connection throws if no answer comes. Then call again with the same key: the record tells what
// has happened. Cancellation: as in pawl/guard/once.hpp.
#pragma once

#include <pawl/guard/detail/script_base.hpp>
#include <pawl/guard/once.hpp>
#include <pawl/guard/records.hpp>
#include <pawl/guard/redis.hpp>
#include <pawl/guard/script.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pawl::guard {

class redis_effect;

// One run of an effect, with its keys and arguments: what the work of `once` returns.
struct effect_call {
    const redis_effect* effect = nullptr;  // must outlive the call of `once`
    std::vector<std::string> keys{};       // in a cluster with the hash tag of the scope
    std::vector<std::string> arguments{};  // as they are sent
};

// A Lua text that changes data and returns the operation's result: a string, a number or nothing.
// KEYS and ARGV are its own. An error, of a command or by redis.error_reply, ends the operation as
// `failed` with the error's words, and is final: nothing is rolled back, so let the effect check
// first and write then. A result larger than `largest_result` is not kept. Made once; thread-safe.
class redis_effect {
public:
    // The text, and the number of keys that each call must name.
    redis_effect(std::string text, std::size_t key_count);

    // A call, for the work to return. Throws errc::bad_option for another number of keys, and for
    // more than 7000 keys or arguments.
    [[nodiscard]] effect_call operator()(std::vector<std::string> keys,
                                         const std::vector<script_argument>& arguments = {}) const;

    // The effect together with the end of its record.
    [[nodiscard]] const detail::script_base& base() const noexcept { return base_; }

private:
    detail::script_base base_;
};

// The answer of a work whose effect is a script.
using redis_outcome = std::variant<effect_call, rejected, retry_after>;
// Reads and decides, and must have no effect itself.
using redis_once_work = std::function<redis_outcome(const attempt&)>;

// Claims the operation, runs the work, and runs its effect and the end of the record in one script.
// The lease is 100 ms or longer.
once_result once(redis_connection& server, const once_key& operation, const once_options& options,
                 const redis_once_work& work, std::stop_token cancel = {});

// For an effect elsewhere, as `at_least_once` in a database.
once_result at_least_once(redis_connection& server, const once_key& operation,
                          const once_options& options, const once_work& work,
                          std::stop_token cancel = {});

// As both, with a lock in front, as in a database: other callers wait for the lock. `with` is `all`
// or `record`.
once_result guarded_once(blocking::client& locks, redis_connection& server, std::string_view name,
                         const once_key& operation, const once_options& options,
                         const redis_once_work& work, std::stop_token cancel = {});
once_result guarded_at_least_once(blocking::client& locks, redis_connection& server,
                                  std::string_view name, const once_key& operation,
                                  const once_options& options, const once_work& work,
                                  std::stop_token cancel = {});

// The steps of `at_least_once`, as in a database.
once_claim claim(redis_connection& server, const once_key& operation, const once_options& options,
                 std::stop_token cancel = {});
[[nodiscard]] bool finish(redis_connection& server, const attempt& claimed, const outcome& result,
                          const once_options& options);
bool give_up(redis_connection& server, const attempt& claimed, duration pause = {});

// The operations of a scope that were begun and not ended, whose lease has been over for this time
// or longer, in the order of their keys, behind the key `after`. One command per 100 unfinished
// ones.
[[nodiscard]] std::vector<once_record> unfinished(redis_connection& server, std::string_view scope,
                                                  duration older_than = {},
                                                  std::string_view after = {},
                                                  std::uint32_t limit = 100);

}  // namespace pawl::guard
