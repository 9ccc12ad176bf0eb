#include "known_scripts.hpp"

#include <redis_scripts.hpp>
#include <redisson_scripts.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace pawl::simulation {
namespace {

// Of Redisson's layout only latches live in the simulation.
constexpr std::array of_redisson{
    known_script{"redisson/latch_set", &redis::redisson::scripts::latch_set},
    known_script{"redisson/latch_down", &redis::redisson::scripts::latch_down},
    known_script{"redisson/latch_reset", &redis::redisson::scripts::latch_reset},
};

}  // namespace

std::span<const known_script> known_scripts() noexcept {
    static const auto all = [] {
        std::vector<known_script> made(of_redisson.begin(), of_redisson.end());
        for (const auto& each : redis::scripts::all)
            made.push_back({each.name, &each});
        return made;
    }();
    return all;
}

const known_script* find_script(std::string_view digest_or_text) noexcept {
    const auto all = known_scripts();
    const bool digest = digest_or_text.size() == 40;
    const auto it = std::ranges::find_if(all, [&](const known_script& each) {
        return digest_or_text == (digest ? each.code->sha1 : each.code->text);
    });
    return it == all.end() ? nullptr : &*it;
}

}  // namespace pawl::simulation
