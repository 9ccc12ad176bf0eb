// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for every scenario of the SQLite backend.
#pragma once

#include "core/util/spi.hpp"
#include "host.hpp"

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace pawl::simulation {

class file_checker {
public:
    explicit file_checker(const host_clock& clock) : clock_(clock) {}

    // A hold in which a program believes.
    struct believed_hold {
        std::size_t program = 0;
        claim requested;
        std::uint64_t token = 0;
        time_point deadline{};
        // The file was replaced or the lock was forced: others may hold it; a loss must be
        // reported.
        bool excused = false;
    };

    // The newest granted token of the name, recorded when a program requests the lock.
    [[nodiscard]] std::uint64_t newest_token(const std::string& name) {
        return newest_tokens_[name];
    }

    void note_grant(std::size_t program, const claim& requested, std::uint64_t token,
                    time_point deadline, std::uint64_t newest_when_asked);
    void check_renewal(const std::string& owner, renewal::outcome result, time_point deadline);
    void check_release(const std::string& owner, release_result result);
    void check_downgrade(const std::string& owner, bool still_ours, time_point deadline);
    // A step of this program succeeded, so it knows of a replaced file.
    void check_notified(std::size_t program);
    // The store, or the program that forced the release, reported the loss.
    void note_reported_loss(const std::string& owner);
    void note_crash(std::size_t program);

    void note_forced(const std::string& name);
    // Living programs must notice it.
    void note_file_replaced(bool under_living_programs);
    // The counter in the file may be lower than the issued tokens.
    void note_old_counter();
    void note_wall_set_back();

    // The count that a latch must have; empty if it is unknown.
    void expect_latch(std::optional<std::uint64_t> count) { expected_latch_ = count; }
    void check_latch(std::uint64_t count);
    [[nodiscard]] std::optional<std::uint64_t> expected_latch() const noexcept {
        return expected_latch_;
    }

    [[nodiscard]] std::list<believed_hold>& believed_holds() noexcept { return believed_holds_; }
    void fail(const std::string& rule);
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

    std::uint64_t grants = 0;
    std::uint64_t losses_reported = 0;

    static constexpr std::uint32_t total_permits = 3;

private:
    [[nodiscard]] bool is_believed(const believed_hold& held) const {
        return !held.excused && held.deadline > clock_.now();
    }
    [[nodiscard]] std::list<believed_hold>::iterator find(const std::string& owner);
    void check_token(const believed_hold& held, std::uint64_t newest_when_asked);
    void check_exclusivity(const believed_hold& held);

    struct issued_token {
        std::string name;
        bool to_readers = false;
        int file_version = 0;  // when it was issued
    };

    const host_clock& clock_;
    std::list<believed_hold> believed_holds_;
    std::map<std::string, std::uint64_t> newest_tokens_;
    std::map<std::uint64_t, issued_token> issued_tokens_;
    std::uint64_t highest_token_ = 0;
    int file_version_ = 0;
    bool counter_is_old_ = false;
    bool tokens_excused_ = false;
    std::optional<std::uint64_t> expected_latch_;
    std::string violation_;
};

}  // namespace pawl::simulation
