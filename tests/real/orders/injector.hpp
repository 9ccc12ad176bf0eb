// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The worker's side of a fault: the views between the shop's code and its database and outside, at
// whose calls the planned fault happens.
#pragma once

#include "faults.hpp"

#include <orders/partner.hpp>

#include <pawl/guard/connection.hpp>

#include <functional>
#include <utility>

namespace real::orders {

// A man in the middle drops what has one of these marks in its text.
inline constexpr const char* lost_answer_mark = "/* the answer is dropped */";
inline constexpr const char* lost_request_mark = "/* dropped */";

class fault_injector {
public:
    // `announce` tells the driver, before the fault happens, and must do so even if the process is
    // killed then. `wait` returns when the driver has done what else belongs to the fault.
    fault_injector(std::function<void()> announce, std::function<void()> wait)
        : announce_(std::move(announce)), wait_(std::move(wait)) {}

    // For the next call of the shop's code; empty: no fault.
    void arm(std::optional<planned_fault> planned);
    // Does not return if the planned fault kills the process.
    void reach(moment at);
    // What to add to the text of a commit at the moment before_commit.
    [[nodiscard]] const char* mark_of_commit();
    // The end of a step.
    void end_step() noexcept { ++step_; }

private:
    [[nodiscard]] bool is_due(moment at) const noexcept;

    std::function<void()> announce_, wait_;
    std::optional<planned_fault> planned_;
    unsigned step_ = 1;
};

// Both targets must outlive their views.
class injected_connection final : public pawl::guard::connection {
public:
    injected_connection(pawl::guard::connection& target, fault_injector& faults) noexcept
        : target_(target), faults_(faults) {}

    pawl::guard::rows execute(const pawl::guard::statement& to_run) override;
    [[nodiscard]] pawl::guard::dialect dialect() const noexcept override {
        return target_.dialect();
    }
    [[nodiscard]] bool in_transaction() const noexcept override { return target_.in_transaction(); }
    // Since the last call of this function.
    [[nodiscard]] vain_work take_vain_work() noexcept { return std::exchange(vain_, {}); }

private:
    pawl::guard::rows commit(const pawl::guard::statement& to_run);
    void count(const pawl::guard::statement& ran, const pawl::guard::rows& answer);

    pawl::guard::connection& target_;
    fault_injector& faults_;
    bool is_begun_ = false;  // a transaction without a statement so far
    vain_work vain_;
};

// Gives each effect a text of its own, so that the auditor can tell two of them apart.
class marking_partner final : public shop::partner {
public:
    marking_partner(shop::partner& target, const std::string& prefix) noexcept
        : target_(target), prefix_(prefix) {}

    shop::answer post(const std::string& path, const std::string& body,
                      const shop::header_list& headers) override;
    // Of the attempt that posts next.
    void set_token(std::string token) { token_ = std::move(token); }

private:
    shop::partner& target_;
    const std::string prefix_;
    std::string token_ = "0";
    std::size_t count_ = 0;
};

// `marking` learns the token here, in front of the layers that may drop it.
class injected_partner final : public shop::partner {
public:
    injected_partner(shop::partner& target, marking_partner& marking,
                     fault_injector& faults) noexcept
        : target_(target), marking_(marking), faults_(faults) {}

    shop::answer post(const std::string& path, const std::string& body,
                      const shop::header_list& headers) override;

private:
    shop::partner& target_;
    marking_partner& marking_;
    fault_injector& faults_;
};

}  // namespace real::orders
