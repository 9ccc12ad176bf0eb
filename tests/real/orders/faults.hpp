// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The faults that meet an order in its work. Which order meets which one is a matter of its number
// and of the seed, so a run has each of them in a known number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace real::orders {

// Statements that brought an order no further.
struct vain_work {
    std::size_t polls = 0;    // looks that found a pending operation
    std::size_t refused = 0;  // claims

    vain_work& operator+=(const vain_work& other) noexcept {
        polls += other.polls;
        refused += other.refused;
        return *this;
    }
};

// The programs of examples/orders.
enum class story : std::uint8_t { verification, sale, creation };
inline constexpr std::array every_story{story::verification, story::sale, story::creation};
[[nodiscard]] const char* to_string(story which) noexcept;
[[nodiscard]] std::optional<story> story_of(const std::string& name);

// Where a call of the program is.
enum class moment : std::uint8_t {
    before_claim,
    after_claim,
    before_effect,  // in the work
    after_effect,   // before the record
    before_commit,  // of the effect, or of the record
    after_commit    // before the reply
};

enum class action : std::uint8_t {
    kill,         // SIGKILL
    pause,        // SIGSTOP, until another caller has carried the order out
    empty_locks,  // the work waits until the lock server has forgotten all locks
    lose_answer,  // the commit is carried out, and its answer is dropped
    lose_request  // the commit is dropped
};

struct fault_case {
    const char* name;
    moment at;
    action does;
    // Nobody calls again: the reconciliation finds the order, or nobody does.
    bool is_abandoned = false;
};

inline constexpr std::array<fault_case, 14> fault_cases{
    {{"killed before the claim", moment::before_claim, action::kill},
     {"killed after the claim", moment::after_claim, action::kill},
     {"killed in the work, before the effect", moment::before_effect, action::kill},
     {"killed after the effect, before the record", moment::after_effect, action::kill},
     {"killed before the commit", moment::before_commit, action::kill},
     {"killed after the commit, before the reply", moment::after_commit, action::kill},
     {"paused in the work, before the effect", moment::before_effect, action::pause},
     {"paused after the effect, before the record", moment::after_effect, action::pause},
     {"the commit's answer dropped", moment::before_commit, action::lose_answer},
     {"the commit dropped", moment::before_commit, action::lose_request},
     {"the locks forgotten during the work", moment::before_effect, action::empty_locks},
     {"killed after the claim, and nobody calls again", moment::after_claim, action::kill, true},
     {"killed after the effect, and nobody calls again", moment::after_effect, action::kill, true},
     {"killed before the commit, and nobody calls again", moment::before_commit, action::kill,
      true}}};

// A fault of an order: the case's index, and in which of the program's steps. `creation` has two
// steps with a record each, the order and its charge.
struct planned_fault {
    std::size_t index = 0;
    unsigned step = 1;

    [[nodiscard]] const fault_case& kind() const { return fault_cases.at(index); }
};

class fault_plan {
public:
    fault_plan(story which, std::size_t orders, std::uint64_t seed) noexcept
        : story_(which), interval_(orders >= 1000 ? 4 : 2), seed_(seed) {}

    // Empty: the order is met by no fault of its own.
    [[nodiscard]] std::optional<planned_fault> of(std::size_t order) const;

private:
    story story_;
    std::size_t interval_;
    std::uint64_t seed_;
};

// False: the program has no such moment, or nobody could repair the order.
[[nodiscard]] bool is_possible(story which, const fault_case& fault) noexcept;

}  // namespace real::orders
