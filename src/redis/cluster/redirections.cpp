// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redirections.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace pawl::redis {

bool redirections::is_redirection(const reply& refusal) noexcept {
    static constexpr std::array<std::string_view, 4> codes{"MOVED ", "ASK ", "TRYAGAIN ",
                                                           "CLUSTERDOWN "};
    return refusal.type == reply::kind::error &&
           std::ranges::any_of(codes, [&](auto code) { return refusal.text.starts_with(code); });
}

redirection_target redirections::parse_target(std::string_view refusal) {
    const auto address = refusal.substr(std::min(refusal.rfind(' ') + 1, refusal.size()));
    const auto colon = address.rfind(':');
    redirection_target result;
    if (colon == std::string_view::npos) return result;
    result.host = address.substr(0, colon);
    const auto digits = address.substr(colon + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), result.port);
    return result;
}

redirections::step redirections::next_step(redirection& progress, reply& refusal,
                                           bool is_late) const {
    if (refusal.text.starts_with("CLUSTERDOWN ")) return step::fail_and_look;
    const bool is_try_again = refusal.text.starts_with("TRYAGAIN ");
    if (++progress.attempts > bounds_.max_attempts || is_late) {
        if (!is_try_again)
            refusal.text = "TRYAGAIN the nodes of the cluster disagree about the slot";
        return step::fail;
    }
    if (is_try_again) return step::pause;
    return refusal.text.starts_with("MOVED ") ? step::follow_move : step::ask;
}

duration redirections::longest_pause(unsigned attempts) const {
    return std::min(bounds_.shortest_pause * (1 << std::min(attempts, 8U)), bounds_.longest_pause);
}

}  // namespace pawl::redis
