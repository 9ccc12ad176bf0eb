// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "galera_cluster.hpp"

#include "eventually.hpp"
#include "resp.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace support {
namespace {

using namespace std::chrono_literals;

constexpr const char* galera_library = "/usr/lib/galera/libgalera_smm.so";

std::string status_of(const mariadb_server& server, const std::string& name) {
    mariadb_client client(server.port());
    const auto rows = client.execute("SHOW STATUS LIKE '" + name + "'");
    return rows.empty() ? "" : rows.front().at(1).value_or("");
}

// All nodes begin with the same data, and each node is told that it has what the others have
// committed since. So none needs a copy from another one.
void write_position(const std::filesystem::path& data, const std::string& number) {
    std::ofstream(data / "grastate.dat")
        << "# GALERA saved state\nversion: 2.1\nuuid:    5e6f0f1e-0000-11f0-8000-000000000001\n"
        << "seqno:   " << number << "\nsafe_to_bootstrap: 1\n";
}

std::vector<std::string> node_options(const std::string& group_port, const std::string& copy_port,
                                      const std::string& members) {
    const auto at = [](const std::string& port) { return "127.0.0.1:" + port; };
    return {"--binlog-format=ROW",
            "--innodb-autoinc-lock-mode=2",
            "--wsrep-on=ON",
            std::string("--wsrep-provider=") + galera_library,
            "--wsrep-cluster-name=pawl",
            "--wsrep-cluster-address=gcomm://" + members,
            "--wsrep-node-address=" + at(group_port),
            "--wsrep-provider-options=gcache.size=4M;gcache.page_size=4M;base_port=" + group_port +
                ";gmcast.listen_addr=tcp://" + at(group_port) + ";ist.recv_addr=" + at(copy_port)};
}

}  // namespace

galera_cluster::galera_cluster(std::size_t size) {
    if (!std::filesystem::exists(galera_library))
        throw std::runtime_error(std::string("NOT RUN: there is no ") + galera_library +
                                 "; ./dev test installs it.");
    while (nodes_.size() < size)
        add_node();
}

void galera_cluster::add_node() {
    const auto position = nodes_.empty() ? "0" : status_of(*nodes_.front(), "wsrep_last_committed");
    const auto group_port = std::to_string(free_port());
    nodes_.push_back(std::make_unique<mariadb_server>(mariadb_settings{
        .options = node_options(group_port, std::to_string(free_port()), members_),
        .prepare = [&](const std::filesystem::path& data) { write_position(data, position); }}));
    members_ += (members_.empty() ? "127.0.0.1:" : ",127.0.0.1:") + group_port;
    const auto index = nodes_.size() - 1;
    if (!eventually([&] { return is_ready(index); }, 60s))
        throw std::runtime_error("the node does not join the cluster: " + nodes_.back()->log());
}

bool galera_cluster::is_ready(std::size_t index) const {
    try {
        return status_of(*nodes_[index], "wsrep_ready") == "ON";
    } catch (const mariadb_failure&) {
        return false;
    }
}

void galera_cluster::isolate(std::size_t index, bool is_isolated) {
    nodes_[index]->execute(std::string("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=") +
                           (is_isolated ? "1'" : "0'"));
}

}  // namespace support
