// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "pgbouncer.hpp"

#include "eventually.hpp"
#include "resp.hpp"
#include "server_user.hpp"

#include <libpq-fe.h>

#include <fstream>
#include <iterator>

namespace support {

namespace {

constexpr const char* pgbouncer_program = "/usr/sbin/pgbouncer";

}  // namespace

pgbouncer::pgbouncer(const postgres_server& server, const std::string& mode,
                     const std::vector<std::string>& users) {
    if (!std::filesystem::exists(pgbouncer_program))
        throw std::runtime_error(std::string("NOT RUN: there is no ") + pgbouncer_program +
                                 "; ./dev test installs it.");
    std::ofstream list(folder_.file("users"));
    list << "\"postgres\" \"\"\n";
    for (const std::string& each : users)
        list << '"' << each << "\" \"\"\n";
    list.close();
    for (int attempt = 0; attempt < 10; ++attempt)
        if (try_start(server, mode)) return;
    std::ifstream log(folder_.file("log"));
    throw std::runtime_error("pgbouncer does not start: " +
                             std::string(std::istreambuf_iterator<char>(log), {}));
}

std::string pgbouncer::url(const std::string& database, const std::string& more) const {
    return "postgresql://postgres@127.0.0.1:" + std::to_string(port_) + "/" + database + more;
}

bool pgbouncer::try_start(const postgres_server& server, const std::string& mode) {
    port_ = free_port();
    std::ofstream file(folder_.file("pgbouncer.ini"));
    file << "[databases]\n* = host=127.0.0.1 port=" << server.port()
         << "\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port_
         << "\nunix_socket_dir =\nauth_type = trust\nauth_file = " << folder_.file("users")
         << "\npool_mode = " << mode << "\n";
    file.close();
    give_to_server_user(folder_.path());
    process_.emplace(pawl::conformance::launch_options{
        .arguments = as_server_user({pgbouncer_program, folder_.file("pgbouncer.ini")}),
        .environment = {},
        .output_file = folder_.file("log"),
        .folder = folder_.path().string()});
    const std::string target = url("postgres", "?connect_timeout=5");
    bool is_ready = false;
    const auto is_settled = [&] {
        if (!process_->is_running()) return true;
        is_ready = ::PQping(target.c_str()) == PQPING_OK;
        return is_ready;
    };
    return eventually(is_settled) && is_ready;
}

}  // namespace support
