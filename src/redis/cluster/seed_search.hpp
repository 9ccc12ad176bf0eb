// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How far the search for a node that answers has come. Does no I/O.
#pragma once

#include "cluster_settings.hpp"
#include "seed_list.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pawl::redis {

// Used on one strand.
class seed_search {
public:
    explicit seed_search(const cluster_settings& settings)
        : connect_timeout_(settings.connect_timeout),
          seeds_(settings.hosts, settings.bounds.max_seed_nodes) {}

    void update(std::vector<seed> listed) { seeds_.update(std::move(listed)); }
    [[nodiscard]] seed next(const std::function<bool(const std::string& node_id)>& is_known) {
        return seeds_.next(is_known);
    }

    // A question is on its way, until `end`.
    void begin() noexcept { ++queried_; }
    void end() noexcept { --queried_; }
    [[nodiscard]] bool is_asking() const noexcept { return queried_ > 0; }
    // How many questions were answered with a view, of any use or none.
    [[nodiscard]] std::uint64_t answers() const noexcept { return answers_; }
    // `objection`: why the view is of no use; may be null.
    void add_answer(std::exception_ptr objection) noexcept {
        failure_ = std::move(objection);
        failed_ = 0;
        ++answers_;
    }
    // `answers`: the number when the question began. Another seed may have answered meanwhile.
    void add_failure(std::exception_ptr failure, std::uint64_t answers) noexcept {
        if (answers_ != answers) return;
        failure_ = std::move(failure);
        ++failed_;
    }
    // Of the newest attempt; null: a seed has answered.
    [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }
    [[nodiscard]] bool have_all_failed() const noexcept {
        return failure_ && failed_ >= seeds_.size();
    }

    // How many seeds are asked one after the other, unless one answers: at first all hosts of the
    // URL, later a few.
    [[nodiscard]] std::size_t round_size() const noexcept {
        return answers_ == 0 ? seeds_.host_count() : seeds_in_a_round;
    }
    // A seed that does not answer must not use up the time for the others.
    [[nodiscard]] duration question_timeout() const {
        const auto rounds = std::min<std::size_t>(1 + failed_ / seeds_.size(), 60);
        return std::min<duration>(connect_timeout_,
                                  std::chrono::seconds(1) * static_cast<std::int64_t>(rounds));
    }

private:
    static constexpr std::size_t seeds_in_a_round = 3;

    const duration connect_timeout_;
    seed_list seeds_;
    std::exception_ptr failure_;
    std::size_t failed_ = 0;   // in a row
    std::size_t queried_ = 0;  // whose answers have not come
    std::uint64_t answers_ = 0;
};

}  // namespace pawl::redis
