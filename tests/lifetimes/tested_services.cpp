// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tested_servers.hpp"

#include <support/cluster_group.hpp>
#include <support/redlock_group.hpp>
#include <support/sentinel_group.hpp>
#include <support/temp_folder.hpp>

#include <pawl/memory.hpp>

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

using redis_servers = servers<support::redis_server>;

class single_server final : public redis_servers {
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

class sentinels final : public redis_servers {
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

class cluster final : public redis_servers {
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

class redlock final : public redis_servers {
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

class redlock_with_sentinels final : public redis_servers {
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

}  // namespace

std::vector<service_kind> all_service_kinds() {
    std::vector<service_kind> all{
        kind<memory_service>("Memory"),
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
    for (auto& each : database_kinds())
        all.push_back(std::move(each));
    return all;
}

}  // namespace lifetimes
