// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "postgres_server.hpp"

#include "eventually.hpp"
#include "resp.hpp"
#include "server_data.hpp"
#include "server_user.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <sys/shm.h>
#include <unistd.h>

namespace support {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();  // a process that has just ended is a failure to read, not an exception
    return text.str();
}

// A data folder to copy: initdb takes longer than all the rest. Small log files make it smaller.
fs::path postgres_template() {
    const std::string programs = postgres_programs();
    const auto version = fs::path(programs).parent_path().filename().string();
    return folder_made_once(PAWL_POSTGRES_TEMPLATE "-" + version, [&](const fs::path& data) {
        run_as_server_user({programs + "/initdb", "--pgdata=" + data.string(),
                            "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C",
                            "--wal-segsize=1", "--no-sync"});
    });
}

struct process_facts {
    char state = 'X';  // Z: it has ended
    int parent = 0;
};

process_facts facts_of(int process) {
    const auto text = content_of("/proc/" + std::to_string(process) + "/stat");
    process_facts facts;
    // The program's name, in parentheses, may have spaces.
    if (const auto end = text.rfind(')'); end != std::string::npos)
        std::istringstream(text.substr(end + 1)) >> facts.state >> facts.parent;
    return facts;
}

bool has_ended(int process) {
    const char state = facts_of(process).state;
    return state == 'X' || state == 'Z';
}

}  // namespace

std::string postgres_programs() {
    std::vector<std::pair<int, std::string>> programs;
    std::error_code none;
    for (const auto& each : fs::directory_iterator("/usr/lib/postgresql", none))
        if (fs::exists(each.path() / "bin/postgres"))
            programs.emplace_back(std::stoi(each.path().filename()), each.path() / "bin");
    if (programs.empty())
        throw std::runtime_error(
            "NOT RUN: there is no /usr/lib/postgresql/*/bin/postgres; ./dev test installs it.");
    return std::max_element(programs.begin(), programs.end())->second;
}

postgres_server::postgres_server(postgres_options options)
    : options_(std::move(options)), folder_(parent_of_data()) {
    make_data();
    write_config();
    // Another program may take the port between the check and the start.
    for (int attempt = 0; attempt < 10; ++attempt) {
        port_ = free_port();
        if (try_start()) return;
    }
    throw std::runtime_error("PostgreSQL does not start: " + log());
}

// An immediate stop removes its shared memory, which a SIGKILL would leave behind.
postgres_server::~postgres_server() {
    if (!is_running()) return;
    thaw();
    process_->signal(SIGQUIT);
    if (!process_->wait(20s)) kill9();
}

std::string postgres_server::url(const std::string& database, const std::string& more) const {
    return "postgresql://postgres@" + host() + ":" + std::to_string(port_) + "/" + database + more;
}

// Another machine is reached by its files only.
std::string postgres_server::superuser_url(const std::string& database) const {
    if (!is_elsewhere()) return url(database);
    return "postgresql://postgres@/" + database + "?host=" + folder_.path().string() +
           "&port=" + std::to_string(port_);
}

std::string postgres_server::log() const { return content_of(folder_.file("log")); }

std::string postgres_server::create_database() {
    const std::string name = "test" + std::to_string(++database_count_);
    execute("CREATE DATABASE " + name);
    return name;
}

std::vector<sql_row> postgres_server::execute(const std::string& sql,
                                              const std::string& database) const {
    return sql_client(superuser_url(database)).execute(sql);
}

std::string postgres_server::value(const std::string& sql, const std::string& database) const {
    return sql_client(superuser_url(database)).value(sql);
}

void postgres_server::set(const std::string& parameter, const std::string& value) {
    if (value.empty())
        execute("ALTER SYSTEM RESET " + parameter);
    else
        execute("ALTER SYSTEM SET " + parameter + " = '" + value + "'");
    const auto before = this->value("SELECT pg_conf_load_time()");
    execute("SELECT pg_reload_conf()");
    if (!eventually([&] { return this->value("SELECT pg_conf_load_time()") != before; }))
        throw std::runtime_error("the server does not read its configuration again: " + log());
}

void postgres_server::stop() {
    thaw();
    process_->signal(SIGINT);
    if (!process_->wait(60s)) throw std::runtime_error("the server does not stop: " + log());
}

void postgres_server::kill9() {
    if (!is_running()) return;
    if (!is_frozen_) process_->stop();  // so that it starts no more processes
    const auto all = processes();
    for (const int each : all)
        ::kill(each, SIGKILL);
    process_->kill_and_reap();
    is_frozen_ = false;
    if (!eventually([&] { return std::all_of(all.begin(), all.end(), has_ended); }))
        throw std::runtime_error("processes of the server do not end");
    forget_dead_server();
}

void postgres_server::freeze() {
    process_->stop();
    for (const int each : processes())
        ::kill(each, SIGSTOP);
    is_frozen_ = true;
}

void postgres_server::thaw() {
    if (!is_frozen_) return;
    for (const int each : processes())
        ::kill(each, SIGCONT);
    process_->resume();
    is_frozen_ = false;
}

void postgres_server::start() {
    if (is_running()) throw std::runtime_error("the server is already running");
    if (!eventually([this] { return try_start(); }, 10s))
        throw std::runtime_error("the server does not start again: " + log());
}

bool postgres_server::is_running() { return process_ && process_->is_running(); }

void postgres_server::catch_up() {
    const auto written = options_.standby_of->value("SELECT pg_current_wal_flush_lsn()");
    const auto has_all = [&] {
        return value("SELECT coalesce(pg_last_wal_replay_lsn() >= '" + written +
                     "', false)::text") == "true";
    };
    if (!eventually(has_all)) throw std::runtime_error("the standby does not follow: " + log());
}

void postgres_server::stop_replication() {
    execute("ALTER SYSTEM SET primary_conninfo = ''");
    execute("SELECT pg_reload_conf()");
    if (!eventually([this] { return value("SELECT count(*) FROM pg_stat_wal_receiver") == "0"; }))
        throw std::runtime_error("the standby goes on receiving: " + log());
}

void postgres_server::promote() {
    if (value("SELECT pg_promote(true, 60)") != "t")
        throw std::runtime_error("the standby is not promoted: " + log());
}

void postgres_server::start_as_standby_of(const postgres_server& primary) {
    fs::remove_all(data());
    options_.standby_of = &primary;
    make_data();
    write_config();
    start();
}

std::vector<int> postgres_server::processes() const {
    std::vector<int> result;
    for (const auto& each : fs::directory_iterator("/proc")) {
        const auto name = each.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const int process = std::stoi(name);
        if (facts_of(process).parent == process_->pid()) result.push_back(process);
    }
    return result;
}

void postgres_server::make_data() const {
    give_to_server_user(folder_.path());
    if (options_.standby_of != nullptr) {
        run_as_server_user(
            {postgres_programs() + "/pg_basebackup", "--dbname=" + options_.standby_of->url(),
             "--pgdata=" + data(), "--wal-method=stream", "--write-recovery-conf",
             "--checkpoint=fast", "--no-sync"},
            options_.runs_on);
    } else {
        copy_for_server_user(postgres_template(), data());
    }
}

void postgres_server::write_config() const {
    std::ofstream file(folder_.file("data/postgresql.conf"), std::ios::app);
    file << "\nlisten_addresses = '" << host() << "'\nunix_socket_directories = '"
         << (is_elsewhere() ? folder_.path().string() : "") << "'\n"
         << "dynamic_shared_memory_type = mmap\nshared_buffers = 16MB\nmax_wal_size = 64MB\n"
         << "min_wal_size = 2MB\nfsync = " << (options_.flushes ? "on" : "off") << "\n";
    for (const std::string& line : options_.config)
        file << line << "\n";
    std::ofstream access(folder_.file("data/pg_hba.conf"));
    for (const std::string& line : options_.access)
        access << line << "\n";
    access << "local all all trust\nhost all all all trust\nhost replication all all trust\n";
}

// Its pid may belong to another process by now, and its segment of shared memory to nobody.
void postgres_server::forget_dead_server() const {
    const fs::path file = folder_.file("data/postmaster.pid");
    std::istringstream lines(content_of(file));
    std::string line;
    for (int i = 0; i < 7; ++i)
        std::getline(lines, line);
    std::istringstream numbers(line);
    if (int key = 0, segment = 0; numbers >> key >> segment) ::shmctl(segment, IPC_RMID, nullptr);
    fs::remove(file);
}

bool postgres_server::try_start() {
    process_.emplace(pawl::conformance::launch_options{
        .arguments = on_machine(
            options_.runs_on, as_server_user({postgres_programs() + "/postgres", "-D", data(), "-c",
                                              "port=" + std::to_string(port_)})),
        .environment = options_.runs_on.environment,
        .output_file = folder_.file("log"),
        .folder = folder_.path().string()});
    const std::string target =
        superuser_url("postgres") + (is_elsewhere() ? "&" : "?") + "connect_timeout=5";
    bool is_ready = false;
    const auto is_settled = [&] {
        if (!process_->is_running()) return true;
        is_ready = process_in(data() + "/postmaster.pid") == process_->pid() &&
                   ::PQping(target.c_str()) == PQPING_OK;
        return is_ready;
    };
    return eventually(is_settled, 60s) && is_ready;
}

}  // namespace support
