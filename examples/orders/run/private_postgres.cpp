// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "private_postgres.hpp"

#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace shop {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> as_database_user(std::vector<std::string> words) {
    if (::geteuid() != 0) return words;
    const passwd* user = ::getpwnam("postgres");
    if (user == nullptr) throw std::runtime_error("There is no user postgres to run the server.");
    std::vector<std::string> all{"setpriv",
                                 "--reuid=" + std::to_string(user->pw_uid),
                                 "--regid=" + std::to_string(user->pw_gid),
                                 "--clear-groups",
                                 "--pdeathsig=KILL",
                                 "--"};
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

// With its output in a file.
support::child start_server(const std::filesystem::path& log,
                            const std::vector<std::string>& words) {
    std::vector<std::string> arguments{"-c", "exec \"$@\" >\"$0\" 2>&1", log.string()};
    const auto all = as_database_user(words);
    arguments.insert(arguments.end(), all.begin(), all.end());
    return {"sh", arguments};
}

std::string server_log(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void give_to_database_user(const std::filesystem::path& folder) {
    if (::geteuid() != 0) return;
    const passwd* user = ::getpwnam("postgres");
    if (user == nullptr || ::chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0)
        throw std::runtime_error("The folder " + folder.string() +
                                 " cannot be given to the user postgres.");
}

}  // namespace

std::filesystem::path postgres_programs() {
    std::filesystem::path newest;
    int newest_version = 0;
    std::error_code none;
    for (const auto& each : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
        const int version = std::atoi(each.path().filename().c_str());
        if (version > newest_version && std::filesystem::exists(each.path() / "bin/postgres")) {
            newest_version = version;
            newest = each.path() / "bin";
        }
    }
    return newest;
}

private_postgres::private_postgres(const std::filesystem::path& folder)
    : programs_(postgres_programs()), folder_(folder / "postgres") {
    if (programs_.empty())
        throw std::runtime_error(
            "There is no PostgreSQL server here: install the package postgresql.");
    std::filesystem::create_directory(folder_);
    give_to_database_user(folder_);
    // The server's user must reach its folder, but not read what is beside it.
    std::filesystem::permissions(folder, std::filesystem::perms::others_exec,
                                 std::filesystem::perm_options::add);
    const auto made = start_server(folder / "initdb.log",
                                   {programs_ / "initdb", "--pgdata=" + (folder_ / "data").string(),
                                    "--username=postgres", "--auth=trust", "--encoding=UTF8",
                                    "--locale=C", "--wal-segsize=1", "--no-sync"})
                          .wait();
    if (made != 0) throw std::runtime_error("initdb fails: " + server_log(folder / "initdb.log"));
    // Another program may take the port before the server does.
    for (int attempt = 0; attempt < 5; ++attempt)
        if (try_start()) return;
    throw std::runtime_error("PostgreSQL does not start: " + server_log(folder / "postgres.log"));
}

// An immediate stop removes its shared memory, which a SIGKILL would leave behind.
private_postgres::~private_postgres() {
    server_.signal(SIGQUIT);
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    while (server_.running() && std::chrono::steady_clock::now() < give_up)
        std::this_thread::sleep_for(10ms);
}

std::string private_postgres::url(const std::string& database) const {
    return "postgresql://postgres@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

bool private_postgres::try_start() {
    port_ = support::unused_port();
    server_ = start_server(
        folder_.parent_path() / "postgres.log",
        {programs_ / "postgres", "-D", folder_ / "data", "-c", "port=" + std::to_string(port_),
         "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c",
         "dynamic_shared_memory_type=mmap", "-c", "shared_buffers=16MB", "-c", "fsync=off"});
    while (server_.running()) {
        const auto file = server_log(folder_ / "data/postmaster.pid");
        if (file.find("\nready") != std::string::npos) return true;
        std::this_thread::sleep_for(10ms);
    }
    server_ = support::child();
    return false;
}

}  // namespace shop
