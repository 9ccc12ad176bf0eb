// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A sorted set of Redis: members with scores, ordered by score, then by member.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::simulation {

class sorted_set {
public:
    using order = std::set<std::pair<double, std::string>>;

    [[nodiscard]] bool empty() const noexcept { return scores_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return scores_.size(); }
    [[nodiscard]] const order& in_order() const noexcept { return order_; }
    [[nodiscard]] std::optional<double> score_of(std::string_view member) const {
        const auto it = scores_.find(member);
        return it == scores_.end() ? std::nullopt : std::optional(it->second);
    }

    void set(std::string_view member, double score) {
        if (const auto it = scores_.find(member); it != scores_.end()) {
            order_.erase({it->second, it->first});
            it->second = score;
        } else {
            scores_.emplace(member, score);
        }
        order_.emplace(score, member);
    }
    bool erase(std::string_view member) {
        const auto it = scores_.find(member);
        if (it == scores_.end()) return false;
        order_.erase({it->second, it->first});
        scores_.erase(it);
        return true;
    }

private:
    std::map<std::string, double, std::less<>> scores_;
    order order_;
};

}  // namespace pawl::simulation
