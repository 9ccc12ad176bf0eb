// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "targets.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace fuzz {

std::span<const target> all_targets() noexcept {
    static constexpr std::array table{target{"config", config},   target{"headers", headers},
                                      target{"replies", replies}, target{"resp", resp},
                                      target{"rows", rows},       target{"templates", templates},
                                      target{"times", times},     target{"urls", urls}};
    return table;
}

void fail(const char* sentence) {
    std::fprintf(stderr, "%s\n", sentence);
    std::abort();
}

}  // namespace fuzz
