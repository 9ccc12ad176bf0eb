// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "zookeeper_server.hpp"

#include "eventually.hpp"
#include "resp.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <sys/socket.h>
#include <sys/time.h>

namespace support {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

std::string content_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

std::string zookeeper_libraries() {
    std::string folder = PAWL_SOURCE_DIR "/.deps/zookeeper/lib";
    if (!std::filesystem::exists(folder))
        throw std::runtime_error("NOT RUN: there is no " + folder + "; ./dev test fetches it.");
    return folder;
}

std::string zookeeper_url_options(std::chrono::milliseconds tick) {
    return "?tick=" + std::to_string(tick.count()) + "ms&max_session=2min";
}

zookeeper_server::zookeeper_server(zookeeper_options options)
    : zookeeper_server(std::move(options), free_port()) {
    write_config({});
    start();
}

zookeeper_server::zookeeper_server(zookeeper_options options, std::uint16_t port)
    : options_(std::move(options)), port_(port) {
    static_cast<void>(zookeeper_libraries());
    if (!options_.tls) return;
    tls_port_ = free_port();
    const certificate_authority authority(folder_.path().string());
    authority.issue("server");
    std::ofstream(folder_.file("server.pem"))
        << content_of(folder_.file("server.key")) << content_of(folder_.file("server.crt"));
}

zookeeper_server::~zookeeper_server() { thaw(); }

void zookeeper_server::write_config(const member& place) {
    std::ofstream file(folder_.file("zoo.cfg"));
    file << "tickTime=" << options_.tick.count() << "\ninitLimit=20\nsyncLimit=10\n"
         << "dataDir=" << folder_.file("data") << "\nclientPort=" << port_
         << "\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
         << "4lw.commands.whitelist=*\nmaxClientCnxns=0\nmaxSessionTimeout=120000\n";
    if (options_.tls)
        file << "secureClientPort=" << tls_port_ << "\nsecureClientPortAddress=127.0.0.1\n"
             << "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"
             << "ssl.keyStore.type=PEM\nssl.keyStore.location=" << folder_.file("server.pem")
             << "\nssl.trustStore.type=PEM\nssl.trustStore.location=" << folder_.file("ca.crt")
             << "\nssl.clientAuth=none\n";
    for (const auto& each : options_.config)
        file << each << "\n";
    for (const auto& each : place.lines)
        file << each << "\n";
    std::filesystem::create_directories(folder_.file("data"));
    if (place.id != 0) std::ofstream(folder_.file("data/myid")) << place.id << "\n";
}

std::string zookeeper_server::url(const std::string& path, const std::string& more) const {
    return "zookeeper://127.0.0.1:" + std::to_string(port_) + path +
           zookeeper_url_options(options_.tick) + more;
}

std::string zookeeper_server::log() const { return content_of(folder_.file("log")); }

void zookeeper_server::begin_start() {
    pawl::conformance::launch_options launch;
    // A small heap and the fast compiler only: the server starts in a second.
    launch.arguments = {"java", "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                        "-XX:-UsePerfData"};
    for (const auto& each : options_.environment)
        launch.arguments.push_back(each);
    const std::string main_class = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
    for (const auto& each :
         {std::string("-cp"), zookeeper_libraries() + "/*", main_class, folder_.file("zoo.cfg")})
        launch.arguments.push_back(each);
    launch.output_file = folder_.file("log");
    process_.emplace(launch);
    is_frozen_ = false;
}

bool zookeeper_server::wait_until_serving() {
    return eventually([this] { return !role().empty() || !is_running(); }, 60s) && is_running();
}

void zookeeper_server::start() {
    begin_start();
    if (!wait_until_serving()) throw std::runtime_error("ZooKeeper does not start: " + log());
}

std::string zookeeper_server::ask(const std::string& command) const {
    try {
        asio::io_context loop;
        asio::ip::tcp::socket socket(loop);
        socket.connect({asio::ip::make_address("127.0.0.1"), port_});
        // A server that is starting may never answer.
        const timeval limit{.tv_sec = 1, .tv_usec = 0};
        ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        asio::write(socket, asio::buffer(command));
        std::string answer;
        std::array<char, 4096> room{};
        for (;;) {
            const auto count = ::recv(socket.native_handle(), room.data(), room.size(), 0);
            if (count <= 0) break;
            answer.append(room.data(), static_cast<std::size_t>(count));
        }
        return answer;
    } catch (const std::exception&) {
        return {};
    }
}

std::string zookeeper_server::role() const {
    const auto answer = ask("srvr");
    const auto begin = answer.find("Mode: ");
    if (begin == std::string::npos) return {};
    return answer.substr(begin + 6, answer.find('\n', begin) - begin - 6);
}

void zookeeper_server::kill9() {
    if (process_) process_->kill_and_reap();
    is_frozen_ = false;
}

void zookeeper_server::freeze() {
    process_->stop();
    is_frozen_ = true;
}

void zookeeper_server::thaw() {
    if (is_frozen_) process_->resume();
    is_frozen_ = false;
}

bool zookeeper_server::is_running() { return process_ && process_->is_running(); }

}  // namespace support
