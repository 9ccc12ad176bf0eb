// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Services with servers of one class.
#pragma once

#include "tested_services.hpp"

#include <pawl/service.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lifetimes {

// Servers that freeze, die and start.
template <class Server>
class servers : public tested_service {
public:
    void disturb(choices& random) override {
        auto& server = *servers_[random.below(servers_.size())];
        if (server.is_frozen()) return server.thaw();
        if (!server.is_running()) return server.start();
        if (random.percent(may_die_ ? 20 : 0)) return server.kill9();
        server.freeze();
    }
    void repair() override {
        for (auto* each : servers_) {
            if (each->is_frozen()) each->thaw();
            if (!each->is_running()) each->start();
        }
    }
    pawl::service service() override { return pawl::from_url(url_); }

protected:
    void add(Server& server) { servers_.push_back(&server); }
    void use(std::string url) { url_ = std::move(url); }
    // A group whose servers know each other does not begin anew.
    void let_none_die() { may_die_ = false; }

private:
    std::vector<Server*> servers_;
    std::string url_;
    bool may_die_ = true;
};

template <class Service, class... Arguments>
service_kind kind(const std::string& name, const Arguments&... arguments) {
    return {name, [=] { return std::make_unique<Service>(arguments...); }};
}

// Each mode of each database in this build.
[[nodiscard]] std::vector<service_kind> database_kinds();

}  // namespace lifetimes
