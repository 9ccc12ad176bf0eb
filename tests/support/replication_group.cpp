// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "replication_group.hpp"

#include "eventually.hpp"
#include "resp.hpp"

#include <chrono>
#include <filesystem>
#include <stdexcept>

namespace support {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> member_options(group_writers writers, std::size_t index,
                                        const std::vector<std::string>& addresses) {
    std::string seeds;
    for (const auto& each : addresses)
        seeds += (seeds.empty() ? "" : ",") + each;
    std::vector<std::string> options{
        "--server-id=" + std::to_string(index + 1),
        "--report-host=127.0.0.1",
        "--gtid-mode=ON",
        "--enforce-gtid-consistency=ON",
        "--plugin-load-add=group_replication.so",
        "--group-replication-group-name=5e6f0f1e-0000-11f0-8000-000000000001",
        "--group-replication-local-address=" + addresses[index],
        "--group-replication-group-seeds=" + seeds,
        "--group-replication-start-on-boot=OFF",
        "--group-replication-recovery-get-public-key=ON",
        "--group-replication-member-expel-timeout=0",
        "--performance-schema=ON"};
    if (writers == group_writers::all) {
        options.emplace_back("--group-replication-single-primary-mode=OFF");
        options.emplace_back("--group-replication-enforce-update-everywhere-checks=ON");
    }
    return options;
}

}  // namespace

replication_group::replication_group(group_writers writers, std::size_t size) {
    std::vector<std::string> addresses;
    for (std::size_t i = 0; i < size; ++i)
        addresses.push_back("127.0.0.1:" + std::to_string(free_port()));
    for (std::size_t i = 0; i < size; ++i) {
        nodes_.push_back(std::make_unique<mariadb_server>(
            mariadb_settings{.options = member_options(writers, i, addresses),
                             .product = database_product::mysql,
                             // The file has the server's id, which differs between the members.
                             .prepare = [](const std::filesystem::path& data) {
                                 std::filesystem::remove(data / "auto.cnf");
                             }}));
        const auto& made = *nodes_.back();
        made.execute(
            "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL "
            "'group_replication_recovery'");
        if (i == 0) made.execute("SET GLOBAL group_replication_bootstrap_group = ON");
        join(i);
        if (i == 0) made.execute("SET GLOBAL group_replication_bootstrap_group = OFF");
    }
}

bool replication_group::is_ready(std::size_t index) const {
    try {
        const auto& member = *nodes_[index];
        return !member.value("SELECT group_replication_get_write_concurrency()").empty() &&
               member.value(
                   "SELECT member_state FROM performance_schema.replication_group_members "
                   "WHERE member_id = @@server_uuid") == "ONLINE";
    } catch (const mariadb_failure&) {
        return false;
    }
}

bool replication_group::is_writable(std::size_t index) const {
    try {
        return nodes_[index]->value("SELECT @@global.read_only") == "0";
    } catch (const mariadb_failure&) {
        return false;
    }
}

void replication_group::leave(std::size_t index) {
    nodes_[index]->execute("STOP GROUP_REPLICATION");
    nodes_[index]->execute("SET GLOBAL super_read_only = OFF");
    nodes_[index]->execute("SET GLOBAL read_only = OFF");
}

void replication_group::join(std::size_t index) {
    nodes_[index]->execute("START GROUP_REPLICATION");
    if (!eventually([&] { return is_ready(index); }, 60s))
        throw std::runtime_error("the member does not join its group: " + nodes_[index]->log());
}

}  // namespace support
