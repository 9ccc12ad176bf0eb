// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The ticks of one host, for services that keep no records. This host's clock decides which of them
// are due; whether another host has a tick is known from its mark: tick_mark.hpp.
#pragma once

#include "cron_file.hpp"

#include <pawl/guard/tick_records.hpp>

#include <map>
#include <string>
#include <vector>

namespace pawl::cli {

// Nothing of it outlives the process. What a scheduler never calls here does nothing.
class local_ticks final : public guard::tick_records {
public:
    explicit local_ticks(const std::vector<cron_line>& lines);

    // At the first look, the ticks that are not late yet are open: perhaps nobody has begun them.
    guard::schedule_state look(std::string_view name) override;
    guard::claim_answer claim(const guard::tick_claim& wanted, guard::store_time not_before,
                              duration lease) override;
    // Says so, but not for ticks from before the first look.
    bool skip(const guard::tick_claim& claimed, const std::string& reason,
              guard::store_time settled, std::uint32_t missed) override;

    // The work of the tick has begun, here or elsewhere, or never will.
    void settle(const guard::tick_claim& claimed);
    // The job of the tick could not find out whether it may begin: it is tried again later.
    void reopen(const guard::tick_claim& claimed, duration pause);

    bool begin(const guard::tick_claim& /*claimed*/, fencing_token /*token*/,
               guard::store_time /*latest*/, duration /*lease*/) override {
        return false;
    }
    bool begin_again(const guard::tick_claim& /*claimed*/, const std::string& /*crashed*/,
                     fencing_token /*token*/, duration /*lease*/) override {
        return false;
    }
    bool withdraw(const guard::tick_claim& /*claimed*/) override { return false; }
    bool finish(const guard::tick_claim& /*claimed*/, guard::tick_state /*state*/, int /*status*/,
                const std::string& /*reason*/) override {
        return false;
    }
    void renew(const guard::tick_claim& /*claimed*/, duration /*lease*/) override {}
    std::vector<guard::tick_record> history(std::string_view /*name*/,
                                            std::uint32_t /*most*/) override {
        return {};
    }
    void purge(std::string_view /*name*/, duration /*keep*/) override {}

private:
    struct schedule_ticks {
        duration look_back{};
        int looks = 0;
        guard::store_time settled{};
        std::map<guard::store_time, guard::tick_record> unfinished{};  // by `due`
    };

    [[nodiscard]] schedule_ticks& of(std::string_view name);

    std::map<std::string, schedule_ticks, std::less<>> schedules_;
};

}  // namespace pawl::cli
