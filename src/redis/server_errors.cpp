#include "server_errors.hpp"

#include <algorithm>
#include <array>

namespace pawl::redis {
namespace {

struct rule {
    std::string_view begins;
    errc code;
    bool retry;
    const char* advice;
};

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
         "give the password: password_file or password_env in the URL, or the URL itself"},
    rule{"WRONGPASS", errc::refused, false, "check user and password"},
    rule{"NOPERM", errc::refused, false, "allow it in the user's ACL; docs/redis.md has the rule"},
    // What the server says of a command that a script may not run.
    rule{"ERR The user executing the script", errc::refused, false,
         "allow it in the user's ACL; docs/redis.md has the rule"},
    rule{"READONLY", errc::refused, false, "this is a replica; connect to the master"},
    rule{"DENIED", errc::refused, false, "the server is in protected mode; set a password there"},
    rule{"MISCONF", errc::unavailable, true, "the server cannot save its data; see its log"},
    rule{"OOM", errc::unavailable, true, "the server is out of memory; raise maxmemory"},
    rule{"LOADING", errc::unavailable, true, "the server is loading its data; try again soon"},
    rule{"BUSY", errc::unavailable, true, "the server is busy with a long script; see SCRIPT KILL"},
    rule{"NOREPLICAS", errc::unavailable, true, "too few replicas are connected"},
    rule{"MASTERDOWN", errc::unavailable, true, "the replica has lost its master"},
    rule{"CLUSTERDOWN", errc::unavailable, true, "the cluster is down"},
    rule{"TRYAGAIN", errc::unavailable, true, "the slot is moving"},
    rule{"MOVED", errc::unsupported, false,
         "another node of the cluster has that slot; give that node's URL, or use a single server"},
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

// Without what servers add about the script in which it happened.
std::string_view plain(std::string_view words) noexcept {
    static constexpr std::string_view in_script = "@user_script:";
    const auto at = words.find(in_script);
    if (words.starts_with("ERR Error running script") && at != std::string_view::npos) {
        words.remove_prefix(at + in_script.size());
        words.remove_prefix(std::min(words.find_first_not_of("0123456789: -"), words.size()));
    }
    return words.substr(0, words.find(" script: "));
}

const rule* find(std::string_view words) noexcept {
    for (const auto& one : rules) {
        if (words.starts_with(one.begins)) return &one;
    }
    return nullptr;
}

}  // namespace

bool worth_retrying(std::string_view words) noexcept {
    const auto* one = find(plain(words));
    return one != nullptr && one->retry;
}

// Not NOPERM and WRONGTYPE: a script may meet them after it has written.
bool changed_nothing(std::string_view words) noexcept {
    static constexpr std::array<std::string_view, 16> codes{
        "NOREPLICAS", "MISCONF",    "OOM",         "BUSY",
        "LOADING",    "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN",
        "READONLY",   "MOVED",      "ASK",         "CROSSSLOT",
        "NOAUTH",     "DENIED",     "NOSCRIPT",    "ERR max number of clients"};
    words = plain(words);
    return std::ranges::any_of(codes, [words](auto code) { return words.starts_with(code); });
}

bool may_be_said_later(std::string_view words) noexcept {
    static constexpr std::array<std::string_view, 3> rights{"NOPERM", "WRONGPASS",
                                                            "ERR The user executing the script"};
    words = plain(words);
    return changed_nothing(words) ||
           std::ranges::any_of(rights, [words](auto code) { return words.starts_with(code); });
}

error explain(std::string_view words, const std::string& about) {
    words = plain(words);
    const auto* one = find(words);
    // There the server's words add nothing.
    if (one != nullptr && one->code == errc::wrong_type)
        return {one->code, about + ": " + one->advice + "."};
    const auto said = about + ": the server says \"" + std::string(words.substr(0, 200)) + "\"; ";
    if (one == nullptr)
        return {errc::protocol, said + "run `pawl doctor` to see what kind of server this is."};
    return {one->code, said + one->advice + "."};
}

void refuse_errors(const reply& answer, const std::string& about) {
    if (answer.what == reply::kind::error) throw explain(answer.text, about);
}

}  // namespace pawl::redis
