// Whoever is refused asks less and less, and what must be fresh is fresh.
#include "checker.hpp"

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

std::size_t last(std::deque<instant>& moments, instant now, instant length) {
    while (!moments.empty() && moments.front() < now - 5s)
        moments.pop_front();
    std::size_t count = 0;
    for (auto at = moments.rbegin(); at != moments.rend() && *at >= now - length; ++at)
        ++count;
    return count;
}

}  // namespace

// I9: no request that can make a hold has an owner that another one had. What undoes the one would
// undo the other.
void checker::check_owners(std::string_view script, const words& arguments) {
    const auto check = [&](const std::string& value) {
        const auto owner = value.substr(0, value.find(';'));
        if (owner.size() != 32) fail("I9", "an owner is '" + owner + "', and not 128 bits");
        if (!owners_.insert(owner).second)
            fail("I9", "the owner " + owner + " of '" + std::string(script) + "' had asked before");
    };
    if (script == "acquire" || script == "join") check(arguments.at(0));
    if (script != "several") return;
    for (std::size_t i = 2; i < arguments.size(); ++i)
        check(arguments[i]);
}

// I10: requests that were refused, of each waiter, hold and undo. A waiter that waits on is refused
// up to 5 times in the first second, and then less than once a second; what a user asks anew is
// asked at once, and so is every waiter's place over a new connection.
void checker::check_budget(process& by, std::string_view script, const std::string& key,
                           const words& arguments) {
    auto& asked = asked_[&by];
    // Of a program's users one is at the server for a lock, unless they want it beside each other.
    const bool alone = !plan_.mixed && plan_.users.fair == 0 && plan_.users.sets == 0;
    const std::size_t users = alone ? 1 : plan_.users_each;
    const std::size_t reconnections = plan_.calm_network ? 0 : 4;
    const auto anew = last(asked, world_.now(), 1s);
    const auto anew_in_five = last(asked, world_.now(), 5s);
    if (script == "leave")
        return spend(by, "undos", 8 + 8 * plan_.users_each, 12 + 8 * plan_.users_each);
    if (script == "acquire" || script == "join" || script == "several" || script == "look")
        return spend(by, "attempts at " + key, (7 + reconnections) * users + 3 * anew,
                     (12 + 2 * reconnections) * users + 3 * anew_in_five);
    if (script == "release" || script == "part")
        return spend(by, "releases of " + arguments.at(0), 14, 24);
    if (script != "renew" && script != "renew_beside") return;
    // From a third of the ttl on, every twentieth of it.
    for (std::size_t i = 0; i < arguments.size(); i += 2)
        if (++refused_renewals_[arguments[i]] > 20)
            fail("I10", "a hold was renewed 20 times in vain: '" + arguments[i] + "'");
}

void checker::spend(const process& by, const std::string& what, std::size_t in_a_second,
                    std::size_t in_five) {
    auto& moments = refused_requests_[{&by, what}];
    moments.push_back(world_.now());
    for (const auto& [length, most] : {std::pair{instant(1s), in_a_second}, {5s, in_five}})
        if (const auto count = last(moments, world_.now(), length); count > most)
            fail("I10", std::to_string(count) + " " + what + " were refused in " +
                            std::to_string(length / 1s) + " s");
}

}  // namespace pawl::simulation
