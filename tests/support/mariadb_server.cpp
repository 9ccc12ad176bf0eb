// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "mariadb_server.hpp"

#include "eventually.hpp"
#include "resp.hpp"
#include "server_data.hpp"
#include "server_user.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace support {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* server_program = "/usr/sbin/mariadbd";
constexpr const char* install_program = "/usr/bin/mariadb-install-db";

// The same for the template and its copies. Small files are copied sooner.
constexpr const char* file_options[] = {"--innodb-data-file-path=ibdata1:5M:autoextend",
                                        "--innodb-log-file-size=4M"};

fs::path mariadb_template() {
    if (!mariadb_server::is_installed())
        throw std::runtime_error(std::string("NOT RUN: there is no ") + server_program +
                                 "; ./dev test installs it.");
    return folder_made_once(PAWL_MARIADB_TEMPLATE, [](const fs::path& data) {
        std::vector<std::string> words{
            install_program, "--no-defaults", "--datadir=" + data.string(),
            "--auth-root-authentication-method=normal", "--skip-test-db"};
        words.insert(words.end(), std::begin(file_options), std::end(file_options));
        run_as_server_user(words);
    });
}

}  // namespace

bool mariadb_server::is_installed() {
    return fs::exists(server_program) && fs::exists(install_program);
}

mariadb_server::mariadb_server(std::vector<std::string> options, variables environment)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      folder_(parent_of_data()) {
    give_to_server_user(folder_.path());
    copy_for_server_user(mariadb_template(), folder_.file("data"));
    // Another program may take the port between the check and the start.
    for (int attempt = 0; attempt < 10; ++attempt) {
        port_ = free_port();
        if (try_start()) return;
    }
    throw std::runtime_error("MariaDB does not start: " + log());
}

mariadb_server::~mariadb_server() {
    if (is_running()) process_->kill_and_reap();
}

std::string mariadb_server::url(const std::string& database, const std::string& more,
                                const std::string& user) const {
    return "mariadb://" + user + "@127.0.0.1:" + std::to_string(port_) + "/" + database + more;
}

std::string mariadb_server::log() const {
    std::ifstream file(folder_.file("log"));
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<mariadb_row> mariadb_server::execute(const std::string& sql) const {
    return mariadb_client(port_).execute(sql);
}

std::string mariadb_server::value(const std::string& sql) const {
    return mariadb_client(port_).value(sql);
}

void mariadb_server::stop() {
    thaw();
    process_->signal(SIGTERM);
    if (!process_->wait(60s)) throw std::runtime_error("the server does not stop: " + log());
}

void mariadb_server::kill9() {
    process_->kill_and_reap();
    is_frozen_ = false;
}

void mariadb_server::freeze() {
    process_->stop();
    is_frozen_ = true;
}

void mariadb_server::thaw() {
    if (!is_frozen_) return;
    process_->resume();
    is_frozen_ = false;
}

void mariadb_server::start() {
    if (is_running()) throw std::runtime_error("the server is already running");
    if (!eventually([this] { return try_start(); }, 10s))
        throw std::runtime_error("the server does not start again: " + log());
}

bool mariadb_server::is_running() { return process_ && process_->is_running(); }

bool mariadb_server::try_start() {
    std::vector<std::string> words{server_program,
                                   "--no-defaults",
                                   "--datadir=" + folder_.file("data"),
                                   "--port=" + std::to_string(port_),
                                   "--bind-address=127.0.0.1",
                                   "--socket=" + folder_.file("socket"),
                                   "--tmpdir=" + folder_.path().string(),
                                   "--pid-file=" + folder_.file("pid"),
                                   "--innodb-buffer-pool-size=16M",
                                   "--skip-name-resolve"};
    words.insert(words.end(), std::begin(file_options), std::end(file_options));
    words.insert(words.end(), options_.begin(), options_.end());
    process_.emplace(pawl::conformance::launch_options{.arguments = as_server_user(words),
                                                       .environment = environment_,
                                                       .output_file = folder_.file("log"),
                                                       .folder = folder_.path().string()});
    bool is_ready = false;
    const auto is_settled = [&] {
        if (!process_->is_running()) return true;
        try {
            is_ready = mariadb_client(port_).value("SELECT 1") == "1";
        } catch (const mariadb_failure&) {}  // not yet
        return is_ready;
    };
    return eventually(is_settled, 60s) && is_ready;
}

}  // namespace support
