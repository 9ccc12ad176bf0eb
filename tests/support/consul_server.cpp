// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "consul_server.hpp"

#include "eventually.hpp"
#include "resp.hpp"
#include "server_data.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace asio = boost::asio;

namespace support {

namespace {

using namespace std::chrono_literals;
using pawl::conformance::child;
using pawl::conformance::launch_options;

constexpr auto start_limit = 60s;  // an election on a busy machine

std::string content_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

}  // namespace

std::string consul_program() {
    const char* configured = std::getenv("PAWL_TEST_CONSUL");
    if (configured != nullptr && *configured != '\0') return configured;
    std::string fetched = PAWL_SOURCE_DIR "/.deps/consul/usr/bin/consul";
    if (!std::filesystem::exists(fetched))
        throw std::runtime_error("NOT RUN: there is no " + fetched + "; ./dev test fetches it.");
    return fetched;
}

consul_server::consul_server(consul_settings settings)
    : settings_(std::move(settings)), folder_(parent_of_data()) {
    // Another program may take a port between the check and the start.
    for (int attempt = 0;; ++attempt) {
        choose_ports();
        write_config({serf_port_});
        launch_agent();
        try {
            wait_for_leader();
            return;
        } catch (const std::runtime_error&) {
            if (process_->is_running() || attempt == 5) throw;
        }
    }
}

consul_server::consul_server(consul_settings settings, std::size_t servers, std::size_t number)
    : settings_(std::move(settings)),
      servers_(servers),
      number_(number),
      folder_(parent_of_data()) {
    choose_ports();
}

consul_server::~consul_server() {
    if (process_) process_->signal(SIGCONT);
}

void consul_server::choose_ports() {
    http_port_ = free_port();
    https_port_ = free_port();
    server_port_ = free_port();
    serf_port_ = free_port();
}

std::string consul_server::address() const { return "127.0.0.1:" + std::to_string(http_port_); }

std::string consul_server::log() const { return content_of(folder_.file("log")); }

void consul_server::write_config(const std::vector<std::uint16_t>& members) {
    std::string joined;
    for (const auto each : members)
        joined += (joined.empty() ? "\"127.0.0.1:" : ", \"127.0.0.1:") + std::to_string(each) + '"';
    std::ofstream file(folder_.file("config.json"));
    file << R"({"node_name": "n)" << number_ << R"(", "data_dir": ")" << folder_.file("data")
         << R"(", "server": true, "bootstrap_expect": )" << servers_
         << R"(, "bind_addr": "127.0.0.1", "client_addr": "127.0.0.1", "log_level": "warn",)"
         << R"("disable_update_check": true, "performance": {"raft_multiplier": 1},)"
         << R"("limits": {"http_max_conns_per_client": 10000}, "retry_interval": "500ms",)"
         << R"("retry_join": [)" << joined << R"(], "ports": {"http": )" << http_port_
         << R"(, "https": )" << (settings_.cert_file.empty() ? -1 : https_port_)
         << R"(, "server": )" << server_port_ << R"(, "serf_lan": )" << serf_port_
         << R"(, "serf_wan": -1, "dns": -1, "grpc": -1})";
    if (!settings_.cert_file.empty())
        file << R"(, "verify_incoming": false, "ca_file": ")" << settings_.ca_file
             << R"(", "cert_file": ")" << settings_.cert_file << R"(", "key_file": ")"
             << settings_.key_file << '"';
    if (settings_.has_acl)
        file << R"(, "acl": {"enabled": true, "default_policy": "deny", "tokens": {"master": ")"
             << consul_root_token << R"("}}, "primary_datacenter": "dc1")";
    file << "}\n";
}

void consul_server::launch_agent() {
    launch_options options;
    options.arguments = {consul_program(), "agent", "-config-file=" + folder_.file("config.json")};
    options.environment = {{"GOMAXPROCS", "2"}};
    options.output_file = folder_.file("log");
    process_.emplace(options);
}

void consul_server::wait_for_leader() {
    const auto has_leader = [this] {
        if (!process_->is_running()) return true;
        try {
            return request("GET", "/v1/status/leader").find(':') != std::string::npos &&
                   request("PUT", "/v1/kv/started", "1") == "true";
        } catch (const std::exception&) {
            return false;
        }
    };
    if (!eventually(has_leader, start_limit) || !process_->is_running())
        throw std::runtime_error("Consul does not start: " + log());
}

void consul_server::start() {
    launch_agent();
    wait_for_leader();
}

bool consul_server::is_running() { return process_ && process_->is_running(); }

void consul_server::kill9() { process_->kill_and_reap(); }

void consul_server::freeze() { process_->stop(); }

void consul_server::thaw() { process_->resume(); }

child consul_server::launch(const std::vector<std::string>& words) const {
    launch_options options;
    options.arguments = {consul_program()};
    options.arguments.insert(options.arguments.end(), words.begin(), words.end());
    options.environment = {{"CONSUL_HTTP_ADDR", address()}};
    if (settings_.has_acl) options.environment.emplace_back("CONSUL_HTTP_TOKEN", consul_root_token);
    return child(options);
}

std::string consul_server::run(const std::vector<std::string>& words) const {
    auto process = launch(words);
    process.close_input();
    std::string printed;
    while (const auto line = process.read_line(60s))
        printed += *line + '\n';
    if (process.wait(60s) != 0) throw std::runtime_error("consul " + words.at(0) + ": " + printed);
    return printed;
}

std::string consul_server::exchange(const std::string& method, const std::string& path,
                                    const std::string& body,
                                    const std::string& more_headers) const {
    asio::io_context loop;
    asio::ip::tcp::socket socket(loop);
    socket.connect({asio::ip::make_address("127.0.0.1"), http_port_});
    const auto text = method + " " + path + " HTTP/1.0\r\nHost: " + address() + "\r\n" +
                      more_headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                      body;
    asio::write(socket, asio::buffer(text));
    std::string received;
    boost::system::error_code end;
    asio::read(socket, asio::dynamic_buffer(received), end);
    return received;
}

std::string consul_server::request(const std::string& method, const std::string& path,
                                   const std::string& body) const {
    const auto token = std::string("X-Consul-Token: ") + consul_root_token + "\r\n";
    const auto received = exchange(method, path, body, settings_.has_acl ? token : "");
    const auto begin = received.find("\r\n\r\n");
    if (begin == std::string::npos) throw std::runtime_error("no response to " + path);
    auto result = received.substr(begin + 4);
    while (result.ends_with('\n'))
        result.pop_back();
    return result;
}

consul_cluster::consul_cluster(std::size_t servers) {
    std::vector<std::uint16_t> members;
    for (std::size_t i = 0; i < servers; ++i) {
        servers_.push_back(
            std::unique_ptr<consul_server>(new consul_server(consul_settings{}, servers, i)));
        members.push_back(servers_.back()->serf_port_);
    }
    for (const auto& each : servers_) {
        each->write_config(members);
        each->launch_agent();
    }
    for (const auto& each : servers_)
        each->wait_for_leader();
}

std::string consul_cluster::url(const std::string& more) const {
    std::string hosts;
    for (const auto& each : servers_)
        hosts += (hosts.empty() ? "" : ",") + each->address();
    return "consul://" + hosts + more;
}

std::size_t consul_cluster::leader() {
    std::size_t leader_number = servers_.size();
    const auto is_found = [&] {
        for (const auto& each : servers_) {
            if (!each->is_running()) continue;
            try {
                const auto answer = each->request("GET", "/v1/status/leader");
                for (std::size_t i = 0; i < servers_.size(); ++i)
                    if (servers_[i]->is_running() &&
                        answer == "\"127.0.0.1:" + std::to_string(servers_[i]->server_port_) + '"')
                        leader_number = i;
            } catch (const std::exception&) {}
        }
        return leader_number < servers_.size();
    };
    if (!eventually(is_found, start_limit)) throw std::runtime_error("Consul has no leader");
    return leader_number;
}

}  // namespace support
