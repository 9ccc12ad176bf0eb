// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The random choices of one program, all from its seed.
#pragma once

#include <pawl/types.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace lifetimes {

class choices {
public:
    explicit choices(std::uint64_t seed) : engine_(seed) {}

    // 0 to bound - 1.
    [[nodiscard]] std::size_t below(std::size_t bound) { return engine_() % bound; }
    [[nodiscard]] bool percent(std::size_t probability) { return below(100) < probability; }
    template <class Value>
    [[nodiscard]] Value any_of(const std::vector<Value>& values) {
        return values[below(values.size())];
    }
    template <class Value>
    void shuffle(std::vector<Value>& values) {
        for (std::size_t i = values.size(); i > 1; --i)
            std::swap(values[i - 1], values[below(i)]);
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace lifetimes
