// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "refusals.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace pawl::guard::redis {
namespace {

struct refusal_kind {
    std::string_view words;  // a part of the server's message
    errc code;
    std::string_view advice;
};

// The first match counts.
constexpr std::array refusal_kinds{
    refusal_kind{"CROSSSLOT", errc::bad_option,
                 "The keys are in different slots of the cluster; give them one hash tag, such as "
                 "{order-7}:stock."},
    refusal_kind{"non local key", errc::bad_option,
                 "A key is in another slot of the cluster; give all keys one hash tag, such as "
                 "{order-7}:stock."},
    refusal_kind{"MOVED ", errc::unsupported,
                 "The key belongs to another node of the cluster; use a connection that follows "
                 "the cluster."},
    refusal_kind{"ASK ", errc::unsupported,
                 "The key moves to another node of the cluster; use a connection that follows "
                 "the cluster."},
    refusal_kind{"WRONGTYPE", errc::wrong_type,
                 "The key contains a value of another type; use another key."},
    refusal_kind{"not an integer", errc::wrong_type,
                 "The value is no decimal integer of 64 bits; use another key."},
    refusal_kind{"NOPERM", errc::refused, "Give the user this right."},
    refusal_kind{"NOAUTH", errc::refused, "Authenticate the connection first."},
    refusal_kind{"READONLY", errc::unavailable, "This server is a replica; connect to the master."},
};

// These pass.
constexpr std::array<std::string_view, 9> transient{"OOM",        "LOADING",     "BUSY",
                                                    "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN",
                                                    "MISCONF",    "NOREPLICAS",  "UNBLOCKED"};

}  // namespace

void throw_if_refused(const redis_reply& reply, std::string_view key) {
    if (reply.type != redis_reply::kind::error) return;
    const std::string begin = std::string(key) + ": ";
    const std::string words = " The server says: " + reply.text;
    for (const refusal_kind& each : refusal_kinds)
        if (reply.text.find(each.words) != std::string::npos)
            throw error(each.code, begin + std::string(each.advice) + words);
    const auto begins_reply = [&](std::string_view each) { return reply.text.starts_with(each); };
    if (std::ranges::any_of(transient, begins_reply))
        throw error(errc::unavailable, begin + "The server cannot do that now; try later." + words);
    throw error(errc::protocol, begin + "The server refuses the command." + words);
}

void throw_unexpected(std::string_view key, std::string_view reply_to) {
    throw error(errc::protocol, std::string(key) + ": an unexpected reply to " +
                                    std::string(reply_to) + "; nothing is known about its effect.");
}

}  // namespace pawl::guard::redis
