#include "wrong_type.hpp"

#include "lock_base.hpp"
#include "server_errors.hpp"

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

constexpr std::string_view elsewhere =
    "for another program's data choose another name, namespace or key template";

error in_the_way(const typed_key& wanted, std::string_view found) {
    const auto holds = std::string(wanted.key) + " holds a " + std::string(found) +
                       ", where Pawl keeps " + std::string(wanted.purpose) + "; ";
    const bool redissons = wanted.purpose == "the lock" && found == "hash";
    const std::string advice =
        redissons ? "for a lock of Redisson set layout=redisson in the URL, " : "";
    return {errc::wrong_type, holds + advice + std::string(elsewhere) + "."};
}

// "zset" is a word of the server's.
std::string_view in_words(std::string_view type) { return type == "zset" ? "sorted set" : type; }

}  // namespace

std::array<typed_key, 6> typed(const keys& where) noexcept {
    return {{{where.lock, "string", "the lock"},
             {where.fence, "string", "the counter of its tokens"},
             {where.queue, "zset", "the line of those who wait"},
             {where.waiters, "hash", "who waits"},
             {where.holders, "zset", "the leases of those who share the lock"},
             {where.details, "hash", "who shares the lock"}}};
}

asio::awaitable<void> refuse(link& over, const reply& answer, std::span<const typed_key> keys,
                             time_point give_up_at) {
    if (answer.what != reply::kind::error) co_return;
    if (of_another_type(answer)) {
        for (const auto& one : keys) {
            const std::array<std::string_view, 2> question{"TYPE", one.key};
            const auto type = co_await over.exec(question, give_up_at);
            // Who may not ask is told less.
            if (type.what == reply::kind::error) break;
            if (type.text != one.type && type.text != "none")
                throw in_the_way(one, in_words(type.text));
        }
    }
    refuse_errors(answer, std::string(keys.front().key));
}

}  // namespace pawl::redis
