// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A user that acquires two to four names at once or none of them (acquire_all), with an owner or
// without, while others acquire the same names one by one.
#pragma once

#include "../../bugs/faulty_acquire_all.hpp"
#include "simulated_user.hpp"

#include <pawl/held_locks.hpp>
#include <pawl/lock_owner.hpp>

#include <optional>
#include <vector>

namespace pawl::simulation {

class set_user final : public simulated_user {
public:
    set_user(program& program, std::string label, prng random);

private:
    void start_request() override;
    [[nodiscard]] std::vector<std::string> requested_names() const override {
        return sorted_names_;
    }
    void forget_holds() override;
    void choose_names();
    // The names for the checker.
    [[nodiscard]] std::vector<std::string> checker_names() const {
        return program_.context().space.checker_name(sorted_names_);
    }
    [[nodiscard]] lock_options choose_options();
    // The owner acquires one of the names first and re-enters it later.
    void request_first();
    void on_first_completion(const boost::system::error_code& ec, held_lock lock);
    void request_all();
    void send_request(const lock_options& options);
    void on_completion(const boost::system::error_code& ec, held_locks all);
    [[nodiscard]] bool is_expected_set_error(const boost::system::error_code& ec) const;
    void accept_set(held_locks all);
    [[nodiscard]] hold_id reenter(const held_lock& lock);
    void work();
    void work_with(const held_lock& lock, hold_id& id);
    void release();
    void on_released(release_result result);
    void release_handles();
    void release_first();
    void end_holds();

    const bool has_owner_;  // acquires through an owner, so never in one request
    std::optional<lock_owner> owner_;

    // The current request: names in the caller's order, perhaps one of them twice.
    std::vector<std::string> names_;
    std::vector<pending_request> requests_;  // for `sorted_names_`
    std::vector<std::string> sorted_names_;
    lock_options options_;
    instant scenario_began_at_{};    // when the first of the requests began
    time_point program_began_at_{};  // the same by the program's clock
    std::vector<std::shared_ptr<faulty_acquire_all>> faulty_attempts_;  // keep forgotten locks

    // The current holds.
    held_locks set_;
    std::vector<hold_id> hold_ids_;
    std::vector<released_hold> released_holds_;
    bool expects_release_ = false;
    held_lock first_;  // of `request_first`, if it was granted
    hold_id first_hold_id_ = 0;
};

}  // namespace pawl::simulation
