// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "etcd_server.hpp"

#include "eventually.hpp"
#include "resp.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace support {
namespace {

using namespace std::chrono_literals;

constexpr const char* ready_line = "ready to serve client requests";

std::filesystem::path data_parent() {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code failure;
    const auto space = std::filesystem::space(memory, failure);
    return !failure && space.available > (512U << 20U) ? memory
                                                       : std::filesystem::temp_directory_path();
}

bool has_program(const std::string& name) {
    for (const char* folder : {"", "/usr/bin/", "/usr/local/bin/"})
        if ((name.find('/') != std::string::npos || folder[0] != '\0') &&
            std::filesystem::exists(folder + name))
            return true;
    return false;
}

void expect_program(const std::string& name) {
    if (!has_program(name))
        throw std::runtime_error("NOT RUN: there is no " + name + "; ./dev test installs it.");
}

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char each : word)
        text += each == '\'' ? std::string("'\\''") : std::string(1, each);
    return text + "'";
}

std::string run(const std::vector<std::string>& words) {
    std::string command = "ETCDCTL_API=3";
    for (const auto& each : words)
        command += " " + quoted(each);
    FILE* const output = ::popen((command + " 2>&1").c_str(), "r");
    if (output == nullptr) throw std::runtime_error("a program does not start: " + command);
    std::string text;
    std::array<char, 4096> buffer{};
    while (const auto count = std::fread(buffer.data(), 1, buffer.size(), output))
        text.append(buffer.data(), count);
    if (::pclose(output) != 0) throw std::runtime_error(command + " fails: " + text);
    return text;
}

}  // namespace

etcd_cluster::etcd_cluster(etcd_options options)
    : options_(std::move(options)), folder_(data_parent()) {
    expect_program(options_.program);
    expect_program("etcdctl");
    for (std::size_t i = 0; i < options_.members; ++i)
        members_.push_back(std::make_unique<member>());
    for (int attempt = 0; attempt < 10; ++attempt)
        if (try_start_all()) return;
    throw std::runtime_error("etcd does not start: " + log());
}

etcd_cluster::~etcd_cluster() {
    for (std::size_t i = 0; i < size(); ++i)
        thaw(i);
}

bool etcd_cluster::is_installed() { return has_program("etcd") && has_program("etcdctl"); }

bool etcd_cluster::try_start_all() {
    for (std::size_t i = 0; i < size(); ++i) {
        members_[i]->process.reset();
        std::filesystem::remove_all(folder_.file("data" + std::to_string(i)));
        members_[i]->port = free_port();
        members_[i]->peer_port = free_port();
        members_[i]->starts = 0;
    }
    for (std::size_t i = 0; i < size(); ++i)
        launch(i);
    for (std::size_t i = 0; i < size(); ++i) {
        const auto is_settled = [&] { return is_ready(i) || !members_[i]->process->is_running(); };
        if (!eventually(is_settled, 60s) || !is_ready(i)) return false;
    }
    return true;
}

bool etcd_cluster::has_tls() const {
    return std::ranges::any_of(options_.arguments, [](const std::string& each) {
        return each.starts_with("--cert-file");
    });
}

std::string etcd_cluster::endpoint(std::size_t index) const {
    return std::string(has_tls() ? "https" : "http") +
           "://127.0.0.1:" + std::to_string(port(index));
}

std::string etcd_cluster::initial_cluster() const {
    std::string text;
    for (std::size_t i = 0; i < size(); ++i)
        text += (i == 0 ? "" : ",") + ("m" + std::to_string(i)) +
                "=http://127.0.0.1:" + std::to_string(members_[i]->peer_port);
    return text;
}

std::string etcd_cluster::log_file(std::size_t index) const {
    return folder_.file("log" + std::to_string(index) + "." +
                        std::to_string(members_[index]->starts));
}

// The times let a lease of 2 s be kept, and a leader be missed soon, also on a busy machine.
void etcd_cluster::launch(std::size_t index) {
    auto& started = *members_[index];
    ++started.starts;
    const auto peer = "http://127.0.0.1:" + std::to_string(started.peer_port);
    std::vector<std::string> words{options_.program,
                                   "--name=m" + std::to_string(index),
                                   "--data-dir=" + folder_.file("data" + std::to_string(index)),
                                   "--listen-client-urls=" + endpoint(index),
                                   "--advertise-client-urls=" + endpoint(index),
                                   "--listen-peer-urls=" + peer,
                                   "--initial-advertise-peer-urls=" + peer,
                                   "--initial-cluster=" + initial_cluster(),
                                   "--heartbeat-interval=50",
                                   "--election-timeout=500",
                                   "--unsafe-no-fsync"};
    words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
    started.process.emplace(pawl::conformance::launch_options{.arguments = words,
                                                              .environment = {},
                                                              .output_file = log_file(index),
                                                              .folder = folder_.path().string()});
}

std::string etcd_cluster::log(std::size_t index) const {
    std::ifstream file(log_file(index));
    return {std::istreambuf_iterator<char>(file), {}};
}

bool etcd_cluster::is_ready(std::size_t index) const {
    return log(index).find(ready_line) != std::string::npos;
}

void etcd_cluster::wait_until_ready(std::size_t index) {
    if (!eventually([&] { return is_ready(index); }, 60s))
        throw std::runtime_error("etcd does not serve again: " + log(index));
}

std::string etcd_cluster::url(const std::string& more) const {
    std::string hosts;
    for (std::size_t i = 0; i < size(); ++i)
        hosts += (i == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(port(i));
    return std::string(has_tls() ? "etcds://" : "etcd://") + hosts + more;
}

std::string etcd_cluster::url_of(std::size_t index, const std::string& more) const {
    return std::string(has_tls() ? "etcds://" : "etcd://") +
           "127.0.0.1:" + std::to_string(port(index)) + more;
}

void etcd_cluster::kill9(std::size_t index) {
    thaw(index);
    members_[index]->process->kill_and_reap();
}

void etcd_cluster::start(std::size_t index) { launch(index); }

void etcd_cluster::restore_backup(const std::function<void()>& later) {
    const auto backup = folder_.file("backup");
    etcdctl({"snapshot", "save", backup});
    later();
    kill9(0);
    const auto data = folder_.file("data0");
    std::filesystem::remove_all(data);
    etcdctl({"snapshot", "restore", backup, "--name=m0", "--data-dir=" + data,
             "--initial-cluster=" + initial_cluster(),
             "--initial-advertise-peer-urls=http://127.0.0.1:" +
                 std::to_string(members_[0]->peer_port)});
    start(0);
    wait_until_ready(0);
}

void etcd_cluster::freeze(std::size_t index) {
    members_[index]->is_frozen = true;
    members_[index]->process->stop();
}

void etcd_cluster::thaw(std::size_t index) {
    if (!std::exchange(members_[index]->is_frozen, false)) return;
    members_[index]->process->resume();
}

// The columns of `endpoint status` are ENDPOINT, ID, VERSION, DB SIZE, IS LEADER and so on.
std::size_t etcd_cluster::leader() const {
    for (std::size_t i = 0; i < size(); ++i) {
        if (!members_[i]->process->is_running() || members_[i]->is_frozen) continue;
        const auto answer = run({"etcdctl", "--endpoints=" + endpoint(i), "endpoint", "status"});
        if (answer.find("B, true,") != std::string::npos) return i;
    }
    throw std::runtime_error("no member of etcd leads");
}

std::vector<std::string> etcd_cluster::etcdctl_command(
    const std::vector<std::string>& words) const {
    std::string endpoints;
    for (std::size_t i = 0; i < size(); ++i)
        endpoints += (i == 0 ? "" : ",") + endpoint(i);
    std::vector<std::string> command{"etcdctl", "--endpoints=" + endpoints};
    command.insert(command.end(), etcdctl_options.begin(), etcdctl_options.end());
    command.insert(command.end(), words.begin(), words.end());
    return command;
}

std::string etcd_cluster::etcdctl(const std::vector<std::string>& words) const {
    return run(etcdctl_command(words));
}

}  // namespace support
