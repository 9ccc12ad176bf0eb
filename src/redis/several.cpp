#include "redis_scripts.hpp"
#include "server_errors.hpp"
#include "values.hpp"
#include "visit.hpp"
#include "wrong_type.hpp"

#include <algorithm>
#include <memory>

namespace asio = boost::asio;

namespace pawl::redis {

asio::awaitable<std::vector<grant>> locks::acquire_several(std::span<const claim> what,
                                                           time_point give_up_at) {
    std::vector<std::unique_ptr<visit>> mine;
    std::vector<grant> given;
    try {
        const auto until =
            give_up_at > now() ? std::max(give_up_at, now() + least_silence) : soon();
        if (!link_->connected()) co_await connect(until);
        check_room_for_undo();
        const auto ttl = milliseconds(what.front().ttl);
        const auto lowest = what.front().fenced ? floor() : std::string();
        std::vector<std::string_view> names;
        std::vector<std::string_view> arguments{ttl, lowest};
        names.reserve(2 * what.size());
        given.reserve(what.size());
        for (const auto& one : what) {
            const auto& here =
                mine.emplace_back(std::make_unique<visit>(*this, one, one.owner))->here;
            names.insert(names.end(), {here.where.lock, here.where.fence});
            auto& made = given.emplace_back();
            made.proof = value_of(here.prefix, wall_ms());
            made.owner = here.owner;
        }
        for (const auto& one : given)
            arguments.emplace_back(one.proof);
        for (const auto& one : mine)
            one->about_to_send();
        const auto asked = now();
        const auto answer = co_await scripts_.run(scripts::several, names, arguments, until);
        if (answer.what == reply::kind::error) {
            for (const auto& one : mine)
                one->settled = changed_nothing(answer.text);
            // Any of them may be in the way; the script uses two keys of each.
            std::vector<typed_key> all;
            for (const auto& one : mine) {
                const auto some = typed(one->here.where);
                all.insert(all.end(), some.begin(), some.begin() + 2);
            }
            co_await redis::refuse(*link_, answer, all, soon());
        }
        const bool ours = !answer.items.empty() && answer.items[0].number == 1;
        if (ours && answer.items.size() != what.size() + 1)
            throw error(errc::protocol,
                        "Several locks: an unexpected reply to the several script;"
                        " run `pawl doctor` to see what kind of server this is.");
        for (const auto& one : mine)
            one->settled = true;
        if (!ours) given.clear();
        for (std::size_t i = 0; i < given.size(); ++i) {
            given[i].deadline = asked + what[i].ttl - drift(what[i].ttl);
            given[i].token = fencing_token(static_cast<std::uint64_t>(number(answer.items[i + 1])));
        }
    } catch (const connection_lost& e) {
        throw error(errc::unreachable,
                    "The locks could not be asked for: " + std::string(e.what()) +
                        "; none was acquired. Check that the server is up.");
    }
    co_return given;
}

}  // namespace pawl::redis
