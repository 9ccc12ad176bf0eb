// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_errors.hpp"

#include <algorithm>
#include <array>

namespace pawl::redis {
namespace {

struct rule {
    std::string_view prefix;
    errc code;
    bool retry;
    const char* advice;
};

constexpr auto cluster_down_advice =
    "a slot has no node, or the node has lost the others; see `pawl doctor`, or CLUSTER NODES at "
    "each node, for the missing ones and start them";
constexpr auto missing_rights_advice =
    "give the user the rule that `pawl acl --for FEATURES` prints, with all features that it uses: "
    "exclusive, modes, latches, admin, replicas, disk";

constexpr std::array rules{
    rule{"WRONGTYPE", errc::wrong_type, false,
         "holds something else than Pawl's; for a lock of Redisson set layout=redisson in the URL, "
         "for another program's data choose another name, namespace or key template"},
    rule{"ERR value is not an integer", errc::wrong_type, false,
         "the counter of its tokens, in its key that ends in :f, holds something that is not a "
         "number; delete that key"},
    rule{"ERR hash value is not an integer", errc::wrong_type, false,
         "one of its numbers, in its key that ends in :d, or in :l of a latch, is not a number; "
         "delete that key"},
    rule{"ERR increment or decrement would overflow", errc::wrong_type, false,
         "the counter of its tokens, in its key that ends in :f, is at its end; somebody else has "
         "set it, so delete that key"},
    rule{"NOAUTH", errc::refused, false,
         "give the password by password_file or password_env in the URL, or in the URL itself"},
    rule{"WRONGPASS", errc::refused, false, "check user and password"},
    rule{"NOPERM the user has no rights for readers", errc::refused, false,
         "give the user the rule that `pawl acl --for modes` prints"},
    rule{"NOPERM", errc::refused, false, missing_rights_advice},
    // A script called a command without permission.
    rule{"ERR The user executing the script", errc::refused, false, missing_rights_advice},
    rule{"ERR ACL failure in", errc::refused, false, missing_rights_advice},
    rule{"READONLY", errc::refused, false, "this is a replica; connect to the master"},
    rule{"DENIED", errc::refused, false, "the server is in protected mode; set a password there"},
    rule{"MISCONF", errc::unavailable, true, "the server cannot save its data; see its log"},
    rule{"OOM", errc::unavailable, true, "the server is out of memory; raise maxmemory"},
    rule{"LOADING", errc::unavailable, true, "the server is loading its data; try again soon"},
    rule{"BUSY", errc::unavailable, true, "the server is busy with a long script; see SCRIPT KILL"},
    rule{"NOREPLICAS", errc::unavailable, true,
         "too few replicas follow the master closely enough; see that they run and follow it, or "
         "lower min-replicas-to-write"},
    rule{"MASTERDOWN", errc::unavailable, true, "the replica has lost its master"},
    rule{"CLUSTERDOWN", errc::unavailable, true, cluster_down_advice},
    rule{"ERR Script attempted to execute a command while the cluster is down", errc::unavailable,
         true, cluster_down_advice},
    // Pawl's own words.
    rule{"TRYAGAIN the ", errc::unavailable, true,
         "wait longer, or see with `pawl doctor` whether that node answers"},
    rule{"TRYAGAIN", errc::unavailable, true,
         "the slot is moving, so wait longer, or see CLUSTER NODES for a move that has stopped"},
    rule{"MOVED", errc::unsupported, false,
         "another node of the cluster has that slot; write redis+cluster://HOST1,HOST2,HOST3"},
    rule{"ASK", errc::unsupported, false,
         "its slot moves to another node of the cluster; write redis+cluster://HOST1,HOST2,HOST3"},
    // The slot is moving, and a script named a key that it had deleted.
    rule{"ERR Script attempted to access a non local key", errc::unavailable, true,
         "the slot is moving; wait until the move has ended"},
    rule{"Lua script attempted to access a non local key", errc::unavailable, true,
         "the slot is moving; wait until the move has ended"},
    rule{"CROSSSLOT", errc::unsupported, false,
         "its keys are in different slots of the cluster; use a single server, or put a hash tag, "
         "{…}, into the name where the layout is Redisson's"},
    rule{"ERR max number of clients", errc::unavailable, true, "raise maxclients on the server"},
    rule{"ERR DB index", errc::bad_option, false, "choose a database that the server has"},
    rule{"ERR invalid DB index", errc::bad_option, false, "choose a database that the server has"},
    rule{
        "ERR unknown command", errc::unsupported, false,
        "Pawl needs Redis 6.2 or later, or Valkey, with that command neither renamed nor disabled, "
        "and no proxy before it that knows fewer"},
    rule{"NOPROTO", errc::unsupported, false, "Pawl needs Redis 6.2 or later, or Valkey"},
};

constexpr const char* scripts_advice =
    "allow scripts on the server, which may have renamed the command, and in the user's ACL (`pawl "
    "acl` prints the rule), or, outside "
    "Redisson's layout and with Valkey 8.1, Redis 8.4 or later, add scripts=no to the URL";

// Removes the part about the script that servers add to an error in a script.
std::string_view without_script_prefix(std::string_view words) noexcept {
    static constexpr std::string_view in_script = "@user_script:";
    const auto position = words.find(in_script);
    if (words.starts_with("ERR Error running script") && position != std::string_view::npos) {
        words.remove_prefix(position + in_script.size());
        words.remove_prefix(std::min(words.find_first_not_of("0123456789: -"), words.size()));
    }
    const auto end = words.rfind(" script: ");
    if (end == std::string_view::npos || words.find(in_script, end) == std::string_view::npos)
        return words;
    return words.substr(0, end);
}

// Whole sentences, or else whole words.
std::string quoted(std::string_view words) {
    constexpr std::size_t longest = 300;
    if (words.size() <= longest) return "\"" + std::string(words) + "\"";
    const auto beginning = words.substr(0, longest);
    if (const auto end = beginning.rfind(". "); end != std::string_view::npos)
        return "\"" + std::string(beginning.substr(0, end + 1)) + "\"";
    return "\"" + std::string(beginning.substr(0, beginning.rfind(' '))) + " …\"";
}

const rule* find_rule(std::string_view words) noexcept {
    for (const auto& match : rules) {
        if (words.starts_with(match.prefix)) return &match;
    }
    return nullptr;
}

}  // namespace

bool is_transient(std::string_view words) noexcept {
    const auto* match = find_rule(without_script_prefix(words));
    return match != nullptr && match->retry;
}

// NOPERM and WRONGTYPE are missing: a script may get them after a write.
bool proves_no_change(std::string_view words) noexcept {
    static constexpr std::array<std::string_view, 16> codes{
        "NOREPLICAS", "MISCONF",    "OOM",         "BUSY",
        "LOADING",    "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN",
        "READONLY",   "MOVED",      "ASK",         "CROSSSLOT",
        "NOAUTH",     "DENIED",     "NOSCRIPT",    "ERR max number of clients"};
    words = without_script_prefix(words);
    return std::ranges::any_of(codes, [words](auto code) { return words.starts_with(code); });
}

bool may_succeed_later(std::string_view words) noexcept {
    static constexpr std::array<std::string_view, 7> codes{
        "NOPERM",
        "WRONGPASS",
        "ERR The user executing the script",
        "ERR ACL failure in",
        "ERR Script attempted to execute a command while the cluster is down",
        "ERR Script attempted to access a non local key",
        "Lua script attempted to access a non local key"};
    words = without_script_prefix(words);
    return proves_no_change(words) ||
           std::ranges::any_of(codes, [words](auto code) { return words.starts_with(code); });
}

bool is_final(const error& failure) noexcept {
    const auto reason = failure.reason();
    return reason == errc::refused || reason == errc::unsupported || reason == errc::bad_option ||
           reason == errc::protocol;
}

bool is_of_replica(std::string_view words) noexcept {
    words = without_script_prefix(words);
    return words.starts_with("READONLY") || words.starts_with("MASTERDOWN");
}

// Servers quote the command in different ways, and some in capitals.
bool forbids_scripts(std::string_view words) {
    if (!words.starts_with("NOPERM") && !words.starts_with("ERR unknown command")) return false;
    std::string text(words.substr(0, 200));
    for (char& each : text) {
        if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
        if (each == '`') each = '\'';
    }
    return text.find("'evalsha'") != std::string::npos || text.find("'eval'") != std::string::npos;
}

bool is_wrong_type(const reply& reply) noexcept {
    return reply.type == reply::kind::error && reply.text.find("WRONGTYPE") != std::string::npos;
}

error to_error(std::string_view words, const std::string& subject) {
    words = without_script_prefix(words);
    const auto* match = find_rule(words);
    // To a client that begins with HELLO the server says the same with three lines of syntax.
    if (words.starts_with("NOAUTH HELLO ")) words = "NOAUTH Authentication required.";
    // The server's words add nothing to this advice.
    if (match != nullptr && match->code == errc::wrong_type)
        return {match->code, subject + ": " + match->advice + "."};
    static constexpr std::string_view own_words = "TRYAGAIN the ";
    if (words.starts_with(own_words))
        return {match->code, subject + ": the " + std::string(words.substr(own_words.size())) +
                                 "; " + match->advice + "."};
    const auto sentence = subject + ": the server says " + quoted(words) + "; ";
    if (forbids_scripts(words)) return {match->code, sentence + scripts_advice + "."};
    if (match == nullptr)
        return {errc::protocol, sentence + "run `pawl doctor` to see what kind of server this is."};
    return {match->code, sentence + match->advice + "."};
}

void throw_if_error(const reply& reply, const std::string& subject) {
    if (reply.type == reply::kind::error) throw to_error(reply.text, subject);
}

}  // namespace pawl::redis
