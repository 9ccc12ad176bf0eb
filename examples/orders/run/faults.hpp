// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The points at which a worker process kills or stops itself, and the connection and the partner
// that have them. Each fault strikes an order once, whichever process comes first.
#pragma once

#include "counters.hpp"

#include <orders/partner.hpp>

#include <pawl/guard/connection.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace shop {

enum class fault : std::uint8_t {
    none,
    stop_before_transaction,  // SIGSTOP, longer than the lease
    die_before_commit,        // SIGKILL
    die_after_commit,
    stop_before_call,  // of the outside
    die_after_call     // the outside has done it, and nobody here knows
};
[[nodiscard]] std::string_view name_of(fault each) noexcept;
// Throws std::invalid_argument for another name.
[[nodiscard]] fault fault_of(std::string_view name);

// Not thread-safe.
class fault_points {
public:
    // In the folder is a file for each order that was struck.
    explicit fault_points(std::string folder) : folder_(std::move(folder)) {}
    // From now on the worker is at work for this order.
    void begin(std::string order, fault planned);
    void end() { is_plain_ = false; }
    // True: for this order no fault was planned.
    [[nodiscard]] bool is_plain() const noexcept { return is_plain_; }

    // Strikes if this fault is planned for the order, and has not struck it. A stop returns.
    void pass(fault point);
    // Is called before a death.
    std::function<void()> last_words = [] {};

private:
    std::string folder_, order_;
    fault planned_ = fault::none;
    bool is_plain_ = false;
};

// Counts statements, and has the points around a transaction.
class faulty_connection final : public guard::connection {
public:
    // All must outlive this object.
    faulty_connection(guard::connection& target, fault_points& points, counters& counted) noexcept;
    guard::rows execute(const guard::statement& to_run) override;
    [[nodiscard]] guard::dialect dialect() const noexcept override { return target_.dialect(); }
    [[nodiscard]] bool in_transaction() const noexcept override { return target_.in_transaction(); }

private:
    void count(std::string_view text, const guard::rows& answer);
    void count_transactions();

    guard::connection& target_;
    fault_points& points_;
    counters& counters_;
    bool is_counted_ = false;  // as an open transaction
};

// Counts calls, and has the points around a call.
class faulty_partner final : public partner {
public:
    // All must outlive this object.
    faulty_partner(partner& target, fault_points& points, counters& counted) noexcept
        : target_(target), points_(points), counters_(counted) {}
    answer post(const std::string& path, const std::string& body,
                const header_list& headers) override;

private:
    partner& target_;
    fault_points& points_;
    counters& counters_;
};

}  // namespace shop
