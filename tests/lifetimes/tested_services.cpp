// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tested_services.hpp"

#include <support/cluster_group.hpp>
#include <support/redlock_group.hpp>
#include <support/sentinel_group.hpp>
#include <support/temp_folder.hpp>

#include <pawl/memory.hpp>
#include <pawl/service.hpp>

namespace lifetimes {
namespace {

class memory_service final : public tested_service {
public:
    pawl::service service() override { return service_; }

private:
    const pawl::service service_ = pawl::memory::at();
};

class sqlite_service final : public tested_service {
public:
    pawl::service service() override {
        return pawl::from_url("sqlite:" + folder_.file("locks.db"));
    }

private:
    const support::temp_folder folder_;
};

// Servers that freeze, die and start.
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
    void add(support::redis_server& server) { servers_.push_back(&server); }
    void use(std::string url) { url_ = std::move(url); }
    // A group whose servers know each other does not begin anew.
    void let_none_die() { may_die_ = false; }

private:
    std::vector<support::redis_server*> servers_;
    std::string url_;
    bool may_die_ = true;
};

class single_server final : public servers {
public:
    explicit single_server(const std::string& url_options,
                           const support::redis_options& options = {})
        : server_(options) {
        add(server_);
        use(server_.url(url_options));
    }

private:
    support::redis_server server_;
};

class sentinels final : public servers {
public:
    sentinels() : group_({.replicas = 1}) {
        let_none_die();
        add(group_.server(0));
        add(group_.sentinel(0));
        use(group_.url());
    }

private:
    support::sentinel_group group_;
};

class cluster final : public servers {
public:
    cluster() : group_({.masters = 3}) {
        let_none_die();
        for (std::size_t i = 0; i < group_.node_count(); ++i)
            add(group_.node(i));
        use(group_.url());
    }

private:
    support::cluster_group group_;
};

class redlock final : public servers {
public:
    explicit redlock(const std::string& url_options) {
        for (std::size_t i = 0; i < group_.node_count(); ++i)
            add(group_.node(i));
        use(group_.url(url_options));
        if (url_options.find("fenced=no") == std::string::npos)
            support::redlock_group::begin_set(group_.url(url_options));
    }

private:
    support::redlock_group group_;
};

class redlock_with_sentinels final : public servers {
public:
    redlock_with_sentinels() : plain_(2) {
        let_none_die();
        auto node = support::master_name;
        for (std::size_t i = 0; i < group_.sentinel_count(); ++i)
            node += (i == 0 ? "=127.0.0.1:" : "+127.0.0.1:") +
                    std::to_string(group_.sentinel(i).port());
        const auto url = "redlock://" + plain_.name_of(0) + "," + plain_.name_of(1) + "," + node +
                         "?ttl_max=10000";
        support::redlock_group::begin_set(url);
        add(plain_.node(0));
        add(group_.server(0));
        add(group_.sentinel(0));
        use(url);
    }

private:
    support::sentinel_group group_;
    support::redlock_group plain_;
};

template <class Service, class... Arguments>
service_kind kind(const std::string& name, const Arguments&... arguments) {
    return {name, [=] { return std::make_unique<Service>(arguments...); }};
}

}  // namespace

std::vector<service_kind> all_service_kinds() {
    return {kind<memory_service>("Memory"),
            kind<sqlite_service>("Sqlite"),
            kind<single_server>("Redis", std::string()),
            kind<single_server>("Redisson", std::string("?layout=redisson")),
            {"Scriptless",
             [] {
                 support::redis_options options;
                 options.program = support::conditional_set_program();
                 return std::make_unique<single_server>("?scripts=no", options);
             }},
            kind<sentinels>("Sentinels"),
            kind<cluster>("Cluster"),
            kind<redlock>("Redlock", std::string("?ttl_max=10000")),
            kind<redlock>("RedlockClassic", std::string("?fenced=no")),
            kind<redlock>("RedlockRedisson", std::string("?fenced=no&layout=redisson")),
            kind<redlock_with_sentinels>("RedlockSentinels")};
}

}  // namespace lifetimes
