// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The topology of a service whose only server is the master that Sentinels name.
// docs/backends/sentinel.md describes the rules.
#pragma once

#include "sentinel_locator.hpp"

#include "../topology/topology.hpp"
#include "../transport/reconnecting_link.hpp"

#include <memory>

namespace pawl::redis {

class monitored_master final : public topology {
public:
    monitored_master(std::shared_ptr<sentinel_locator> sentinels,
                     std::shared_ptr<reconnecting_link> master);

    [[nodiscard]] link& link_of(std::string_view) const noexcept override { return *link_; }
    [[nodiscard]] std::span<link* const> links() const noexcept override { return {&link_, 1}; }
    boost::asio::awaitable<void> close(time_point give_up_at) override;
    void add_findings(examination& report) const override;

private:
    const std::shared_ptr<sentinel_locator> sentinels_;
    const std::shared_ptr<reconnecting_link> master_;
    link* const link_;
};

// `subject` is the service in messages.
[[nodiscard]] topology_factory monitored_master_factory(const options& server_options,
                                                        const connection_settings& settings,
                                                        const std::string& subject,
                                                        const backend_context& context);

}  // namespace pawl::redis
