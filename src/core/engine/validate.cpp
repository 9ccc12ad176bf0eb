// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "validate.hpp"

#include "../store/permits.hpp"
#include "../util/duration_text.hpp"

#include <pawl/error.hpp>

#include <optional>
#include <string>

namespace pawl::core {
namespace {

// The position of the first control character, counted from 1.
std::optional<std::size_t> control_character_in(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x20 || byte == 0x7f) return i + 1;
    }
    return std::nullopt;
}

void check_replica_count(durability wanted) {
    if (!wanted.is_on_replicas()) return;
    if (wanted.replica_count() == 0 || wanted.replica_count() > 1000)
        throw error(errc::bad_option, "The number of replicas of a durable lock is " +
                                          std::to_string(wanted.replica_count()) +
                                          "; it must be 1 to 1000.");
}

}  // namespace

void check_name(std::string_view name) {
    if (name.empty())
        throw error(errc::bad_name, "The lock's name is empty; give it 1 to 512 bytes.");
    if (name.size() > 512)
        throw error(errc::bad_name, "The lock's name has " + std::to_string(name.size()) +
                                        " bytes; use at most 512.");
    if (const auto position = control_character_in(name))
        throw error(errc::bad_name, "The lock's name has a control character at byte " +
                                        std::to_string(*position) + "; use printable characters.");
}

void check_options(const lock_options& options) {
    using namespace std::chrono_literals;
    if (options.ttl < 10ms || options.ttl > 24h)
        throw error(errc::bad_option, "The ttl is " + duration_text(options.ttl) +
                                          "; it must be between 10 ms and 24 h.");
    if (options.wait < 0ms)
        throw error(errc::bad_option, "The wait is " + duration_text(options.wait) +
                                          "; it must be 0 or more; 0 means one attempt.");
    if (options.max_hold < 10ms)
        throw error(errc::bad_option, "The max_hold is " + duration_text(options.max_hold) +
                                          "; it must be 10 ms or more, or pawl::forever.");
    if (options.mode > lock_mode::permits)
        throw error(errc::bad_option, "There is no lock_mode " +
                                          std::to_string(static_cast<unsigned>(options.mode)) +
                                          "; use lock_mode::exclusive, shared or permits.");
    check_replica_count(options.durable);
    if (options.mode != lock_mode::permits) {
        if (options.permits != 1 || options.total_permits != 0)
            throw error(
                errc::bad_option,
                "`permits` and `total_permits` need mode = lock_mode::permits; set that mode, or "
                "leave them out.");
        return;
    }
    if (options.permits == 0)
        throw error(errc::bad_option, "The number of permits is 0; it must be 1 or more.");
    if (options.total_permits != 0 && options.permits > options.total_permits)
        throw error(errc::bad_option,
                    (options.total_permits == 1 ? "There is only " : "There are only ") +
                        permits_text(options.total_permits) + ", and you ask for " +
                        std::to_string(options.permits) + "; ask for fewer.");
}

void check_ttl(duration ttl, const capabilities& capabilities) {
    if (ttl < capabilities.least_ttl || ttl > capabilities.most_ttl)
        throw error(errc::bad_option, "The ttl is " + duration_text(ttl) +
                                          "; for this service it must be between " +
                                          duration_text(capabilities.least_ttl) + " and " +
                                          duration_text(capabilities.most_ttl) + ".");
}

void check_mode(const lock_options& options, const backend& backend) {
    const auto capabilities = backend.capabilities();
    const auto throw_unsupported = [&](const char* feature) {
        const auto hint = backend.capability_hint(options.mode, options.fair);
        throw error(errc::unsupported,
                    std::string("This service has no ") + feature + "; " +
                        (hint.empty() ? "see the table in docs/guide/guarantees.md" : hint) + ".");
    };
    if (options.mode == lock_mode::shared && !capabilities.shared)
        throw_unsupported("shared locks");
    if (options.mode == lock_mode::permits && !capabilities.permits) throw_unsupported("permits");
    if (options.fair && !capabilities.strictly_fair) throw_unsupported("strictly fair locks");
}

void check_durability(durability wanted, const capabilities& capabilities) {
    const bool lacks_replicas = wanted.is_on_replicas() && !capabilities.replica_durability;
    const bool lacks_disk = wanted.is_on_disk() && !capabilities.disk_durability;
    if (!lacks_replicas && !lacks_disk) return;
    throw error(errc::unsupported,
                std::string("This service has no ") +
                    (lacks_replicas ? "replicas that acknowledge a lock"
                                    : "file in which a lock survives a restart") +
                    "; leave the durability out, or use Redis or a database.");
}

void check_value(std::string_view value, const lock_options& options,
                 const capabilities& capabilities) {
    if (!capabilities.caller_values)
        throw error(
            errc::unsupported,
            "This service cannot store a value that the caller chose; use `acquire`, or Redis "
            "in the native layout.");
    if (value.empty() || value.size() > 256)
        throw error(errc::bad_option,
                    "The value has " + std::to_string(value.size()) +
                        " bytes; it must have 1 to 256; use a new value each time.");
    if (const auto position = control_character_in(value))
        throw error(errc::bad_option, "The value has a control character at byte " +
                                          std::to_string(*position) +
                                          "; use printable characters.");
    if (value.starts_with("pawl:"))
        throw error(errc::bad_option, "A value must not begin with 'pawl:'; choose another one.");
    if (options.mode != lock_mode::exclusive || options.fair)
        throw error(
            errc::bad_option,
            "A lock under a value that the caller chose must be exclusive and not fair; change "
            "`mode` or `fair`.");
}

void check_polling(const polling& retry) {
    using namespace std::chrono_literals;
    if (retry.tries == 0)
        throw error(errc::bad_option, "The number of tries is 0; it must be 1 or more.");
    if (retry.interval < 1ms || retry.longest < retry.interval)
        throw error(
            errc::bad_option,
            "The interval between tries must be 1 ms or more, and the longest pause must not be "
            "shorter.");
    if (!(retry.growth >= 1 && retry.growth <= 1000))
        throw error(errc::bad_option,
                    "The growth of the pauses between tries must be between 1 and 1000.");
}

void check_client_options(const client_options& options) {
    if (options.drain < duration::zero())
        throw error(errc::bad_option, "The drain time is " + duration_text(options.drain) +
                                          "; it must be 0 or more; 0 means no wait.");
    using namespace std::chrono_literals;
    if (options.try_limit < 10ms || options.try_limit > 10min)
        throw error(errc::bad_option, "The try_limit is " + duration_text(options.try_limit) +
                                          "; it must be between 10 ms and 10 min.");
}

}  // namespace pawl::core
