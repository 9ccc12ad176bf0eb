// Every script of the Redis backend that has a twin, of both layouts.
#pragma once

#include <redis/script.hpp>

#include <span>
#include <string_view>

namespace pawl::simulation {

struct known_script {
    std::string_view name;  // "acquire"; of Redisson's layout "redisson/latch_down"
    const redis::script* code;
};

[[nodiscard]] std::span<const known_script> known_scripts() noexcept;
// By its digest or its text; null where there is no such script.
[[nodiscard]] const known_script* find_script(std::string_view digest_or_text) noexcept;

}  // namespace pawl::simulation
