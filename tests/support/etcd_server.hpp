// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private etcd cluster for tests, with its own folders and free ports on 127.0.0.1.
#pragma once

#include "temp_folder.hpp"

#include <conformance/process.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace support {

struct etcd_options {
    std::size_t members = 1;
    std::vector<std::string> arguments{};  // of every member
    std::string program = "etcd";
};

// Not thread-safe.
class etcd_cluster {
public:
    // Returns when all members serve clients. Throws std::runtime_error, whose text begins with
    // "NOT RUN: ", without etcd or etcdctl.
    explicit etcd_cluster(etcd_options options = {});
    ~etcd_cluster();
    // Whether etcd and etcdctl are there.
    [[nodiscard]] static bool is_installed();
    etcd_cluster(const etcd_cluster&) = delete;
    etcd_cluster& operator=(const etcd_cluster&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
    [[nodiscard]] std::uint16_t port(std::size_t index = 0) const { return members_[index]->port; }
    // etcd://127.0.0.1:PORT,… of all members, followed by `more`.
    [[nodiscard]] std::string url(const std::string& more = {}) const;
    // Of one member.
    [[nodiscard]] std::string url_of(std::size_t index, const std::string& more = {}) const;
    [[nodiscard]] std::string log(std::size_t index = 0) const;

    void kill9(std::size_t index);
    void start(std::size_t index);  // on the same ports, with its data
    void freeze(std::size_t index);
    void thaw(std::size_t index);
    // Waits until this member serves clients again.
    void wait_until_ready(std::size_t index);
    // Of one member: makes a backup, calls `later`, and starts the member from the backup.
    void restore_backup(const std::function<void()>& later);
    // The member that leads; throws std::runtime_error if there is none.
    [[nodiscard]] std::size_t leader() const;

    // The output of `etcdctl WORDS…` at all members. Throws std::runtime_error with it if etcdctl
    // fails.
    std::string etcdctl(const std::vector<std::string>& words) const;
    // The command line of that, for a process that goes on.
    [[nodiscard]] std::vector<std::string> etcdctl_command(
        const std::vector<std::string>& words) const;
    // For etcdctl, of clusters with users or TLS.
    std::vector<std::string> etcdctl_options{};

private:
    struct member {
        std::uint16_t port = 0, peer_port = 0;
        bool is_frozen = false;
        std::size_t starts = 0;
        std::optional<pawl::conformance::child> process{};
    };

    [[nodiscard]] bool try_start_all();
    void launch(std::size_t index);
    [[nodiscard]] bool is_ready(std::size_t index) const;
    [[nodiscard]] bool has_tls() const;
    [[nodiscard]] std::string endpoint(std::size_t index) const;
    [[nodiscard]] std::string initial_cluster() const;
    [[nodiscard]] std::string log_file(std::size_t index) const;

    const etcd_options options_;
    temp_folder folder_;
    std::vector<std::unique_ptr<member>> members_;
};

}  // namespace support
