// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redis_server.hpp"

#include "eventually.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

namespace support {

using namespace std::chrono_literals;

std::string conditional_set_program() {
    const char* configured = std::getenv("PAWL_TEST_SCRIPTLESS_SERVER");
    if (configured != nullptr && *configured != '\0') return configured;
    std::string fetched = PAWL_SOURCE_DIR "/.deps/valkey9/valkey-server";
    if (!std::filesystem::exists(fetched))
        throw std::runtime_error("NOT RUN: there is no " + fetched + "; ./dev test fetches it.");
    return fetched;
}

std::string redis_server::program() const {
    if (!options_.program.empty()) return options_.program;
    const char* configured = std::getenv("PAWL_TEST_SERVER");
    return configured != nullptr && *configured != '\0' ? configured : "redis-server";
}

redis_server::redis_server(redis_options options)
    : options_(std::move(options)), socket_path_(folder_.file("redis.sock")) {
    if (options_.tls) make_certificates();
    // Another program may take the port between the check and the start: then another port is
    // tried.
    for (int attempt = 0; attempt < 10; ++attempt) {
        port_ = free_port();
        if (options_.cluster) cluster_port_ = free_port();
        if (try_start()) return;
    }
    throw std::runtime_error(program() + " does not start: " + log());
}

redis_server::~redis_server() {
    if (process_) process_->signal(SIGCONT);
}

std::string redis_server::url(const std::string& more) const {
    return std::string(options_.tls ? "rediss" : "redis") + "://" + host() + ":" +
           std::to_string(port_) + more;
}

std::string redis_server::unix_url(const std::string& more) const {
    return "redis+unix://" + socket_path_ + more;
}

std::string redis_server::log() const {
    std::ostringstream text;
    text << std::ifstream(folder_.file("log")).rdbuf();
    return text.str();
}

std::unique_ptr<resp_client> redis_server::connect() const {
    auto connection =
        std::make_unique<resp_client>(endpoint{.port = 0, .unix_socket = socket_path_});
    if (!options_.password.empty()) (void)connection->execute({"AUTH", options_.password});
    return connection;
}

resp_value redis_server::execute(const command_words& words) {
    if (!client_) client_ = connect();
    return client_->execute(words);
}

std::vector<std::string> redis_server::keys() {
    std::vector<std::string> result;
    for (const resp_value& each : execute({"KEYS", "*"}).items)
        result.push_back(each.text);
    std::sort(result.begin(), result.end());
    return result;
}

std::int64_t redis_server::time_ms() {
    const auto time = execute({"TIME"});
    return std::stoll(time.items.at(0).text) * 1000 + std::stoll(time.items.at(1).text) / 1000;
}

void redis_server::serve_all_slots() {
    (void)execute({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    const auto is_ready = [this] {
        return execute({"CLUSTER", "INFO"}).text.find("cluster_state:ok") != std::string::npos;
    };
    if (!eventually(is_ready)) throw std::runtime_error("the cluster does not start");
}

void redis_server::terminate() {
    client_.reset();
    is_frozen_ = false;
    process_->signal(SIGCONT);
    process_->signal(SIGTERM);
    if (!process_->wait(20s)) process_->kill_and_reap();
}

void redis_server::kill9() {
    client_.reset();
    is_frozen_ = false;
    process_->kill_and_reap();
}

void redis_server::freeze() {
    is_frozen_ = true;
    process_->stop();
}

void redis_server::thaw() {
    is_frozen_ = false;
    process_->resume();
}

bool redis_server::is_running() { return process_ && process_->is_running(); }

void redis_server::start(bool with_data) {
    if (is_running()) throw std::runtime_error("the server is already running");
    if (!with_data)
        for (const auto& each : std::filesystem::directory_iterator(folder_.path()))
            if (const auto name = each.path().filename().string();
                name.starts_with("appendonly") || name.ends_with(".rdb"))
                std::filesystem::remove_all(each.path());
    // The port is still ours, but connections of the old server may linger for a moment.
    if (!eventually([this] { return try_start(); }, 10s))
        throw std::runtime_error(program() + " does not start again: " + log());
}

bool redis_server::try_start() {
    write_config();
    client_.reset();
    std::filesystem::remove(socket_path_);
    std::vector<std::string> words{program(), folder_.file("redis.conf")};
    if (options_.sentinel) words.emplace_back("--sentinel");
    process_.emplace(
        pawl::conformance::launch_options{.arguments = on_machine(options_.runs_on, words),
                                          .environment = options_.runs_on.environment,
                                          .output_file = folder_.file("log"),
                                          .folder = folder_.path().string()});
    bool is_ready = false;
    const bool settled = eventually(
        [&] {
            if (!process_->is_running()) return true;
            try {
                is_ready = !execute({"PING"}).text.starts_with("LOADING");
            } catch (const std::runtime_error&) {
                client_.reset();
            }
            return is_ready;
        },
        20s);
    return settled && is_ready;
}

void redis_server::write_config() const {
    std::ofstream file(folder_.file("redis.conf"));
    file << "bind " << host() << "\nunixsocket " << socket_path_
         << "\nunixsocketperm 700\nsave \"\"\n"
         << "daemonize no\ndir " << folder_.path().string() << "\n";
    // Otherwise a server without a password serves this host only.
    if (host() != machine().host) file << "protected-mode no\n";
    if (options_.tls)
        file << "port 0\ntls-port " << port_
             << "\ntls-cert-file server.crt\ntls-key-file server.key\n"
             << "tls-ca-cert-file ca.crt\ntls-auth-clients "
             << (options_.client_certificates ? "yes" : "no") << "\n";
    else
        file << "port " << port_ << "\n";
    if (options_.cluster)
        file << "cluster-enabled yes\ncluster-port " << cluster_port_ << "\n"
             << (options_.tls ? "tls-cluster yes\ntls-replication yes\n" : "");
    for (const std::string& line : options_.config)
        file << line << "\n";
}

// ca.crt signs server.crt (127.0.0.1, localhost) and client.crt; other-ca.crt signs nothing.
void redis_server::make_certificates() const {
    const std::string folder = folder_.path().string();
    if (!options_.certificates.empty()) {
        for (const auto& each : std::filesystem::directory_iterator(options_.certificates))
            if (const auto type = each.path().extension(); type == ".crt" || type == ".key")
                std::filesystem::copy(each.path(), folder_.path());
        return;
    }
    const certificate_authority ca(folder);
    ca.issue("server", options_.certificate);
    ca.issue("client");
    const certificate_authority other(folder, "other-ca");
}

}  // namespace support
