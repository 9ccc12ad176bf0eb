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

// What differs between the two products.
struct product_facts {
    std::string name, scheme, server_program, install_program, template_folder;
    // The same for the template and its copies. Small files are copied sooner.
    std::vector<std::string> file_options;
    std::vector<std::string> start_options;
};

const product_facts& facts_of(database_product product) {
    static const product_facts mariadb{
        "MariaDB",
        "mariadb://",
        "/usr/sbin/mariadbd",
        "/usr/bin/mariadb-install-db",
        PAWL_MARIADB_TEMPLATE,
        {"--innodb-data-file-path=ibdata1:5M:autoextend", "--innodb-log-file-size=4M"},
        {}};
    static const product_facts mysql{
        "MySQL",
        "mysql://",
        PAWL_MYSQL_SERVER,
        PAWL_MYSQL_SERVER,
        PAWL_MYSQL_TEMPLATE,
        {"--innodb-data-file-path=ibdata1:5M:autoextend", "--innodb-autoextend-increment=1",
         "--innodb-redo-log-capacity=8M", "--innodb-doublewrite=OFF", "--secure-file-priv="},
        {"--mysqlx=OFF", "--performance-schema=OFF"}};
    return product == database_product::mysql ? mysql : mariadb;
}

void install_mariadb(const product_facts& facts, const fs::path& data) {
    std::vector<std::string> words{facts.install_program, "--no-defaults",
                                   "--datadir=" + data.string(),
                                   "--auth-root-authentication-method=normal", "--skip-test-db"};
    words.insert(words.end(), facts.file_options.begin(), facts.file_options.end());
    run_as_server_user(words);
}

// Without names of hosts, root@localhost cannot connect to 127.0.0.1.
void install_mysql(const product_facts& facts, const fs::path& data) {
    const temp_folder folder;
    const auto script = folder.file("init.sql");
    std::ofstream(script) << "CREATE USER root@'127.0.0.1';\n"
                             "GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n";
    give_to_server_user(folder.path());
    std::vector<std::string> words{facts.install_program,       "--no-defaults",
                                   "--initialize-insecure",     "--init-file=" + script,
                                   "--auto-generate-certs=OFF", "--datadir=" + data.string()};
    words.insert(words.end(), facts.file_options.begin(), facts.file_options.end());
    run_as_server_user(words);
}

fs::path mariadb_template(database_product product) {
    const auto& facts = facts_of(product);
    if (!mariadb_server::is_installed(product))
        throw std::runtime_error("NOT RUN: there is no " + facts.server_program +
                                 "; ./dev test installs it.");
    return folder_made_once(facts.template_folder, [&](const fs::path& data) {
        if (product == database_product::mysql)
            install_mysql(facts, data);
        else
            install_mariadb(facts, data);
    });
}

}  // namespace

bool mariadb_server::is_installed(database_product product) {
    const auto& facts = facts_of(product);
    return fs::exists(facts.server_program) && fs::exists(facts.install_program);
}

mariadb_server::mariadb_server(mariadb_settings settings)
    : settings_(std::move(settings)), folder_(parent_of_data()) {
    give_to_server_user(folder_.path());
    copy_for_server_user(mariadb_template(settings_.product), folder_.file("data"));
    if (settings_.prepare) {
        settings_.prepare(folder_.file("data"));
        give_to_server_user(folder_.file("data"));
    }
    // Another program may take the port between the check and the start.
    for (int attempt = 0; attempt < 10; ++attempt) {
        port_ = free_port();
        if (try_start()) return;
    }
    throw std::runtime_error(facts_of(settings_.product).name + " does not start: " + log());
}

mariadb_server::~mariadb_server() {
    if (is_running()) process_->kill_and_reap();
}

std::string mariadb_server::url(const std::string& database, const std::string& more,
                                const std::string& user) const {
    return facts_of(settings_.product).scheme + user + "@" + host() + ":" + std::to_string(port_) +
           "/" + database + more;
}

std::string mariadb_server::log() const {
    std::ifstream file(folder_.file("log"));
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<mariadb_row> mariadb_server::execute(const std::string& sql) const {
    return superuser().execute(sql);
}

std::string mariadb_server::value(const std::string& sql) const { return superuser().value(sql); }

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

// Another machine is reached by its files only.
mariadb_client mariadb_server::superuser() const {
    return settings_.runs_on.launcher.empty() ? mariadb_client(port_)
                                              : mariadb_client(folder_.file("socket"));
}

bool mariadb_server::is_running() { return process_ && process_->is_running(); }

bool mariadb_server::try_start() {
    const auto& facts = facts_of(settings_.product);
    std::vector<std::string> words{facts.server_program,
                                   "--no-defaults",
                                   "--datadir=" + folder_.file("data"),
                                   "--port=" + std::to_string(port_),
                                   "--bind-address=" + host(),
                                   "--socket=" + folder_.file("socket"),
                                   "--tmpdir=" + folder_.path().string(),
                                   "--pid-file=" + folder_.file("pid"),
                                   "--innodb-buffer-pool-size=16M",
                                   "--skip-name-resolve"};
    for (const auto* each : {&facts.file_options, &facts.start_options})
        words.insert(words.end(), each->begin(), each->end());
    words.insert(words.end(), settings_.options.begin(), settings_.options.end());
    process_.emplace(pawl::conformance::launch_options{
        .arguments = on_machine(settings_.runs_on, as_server_user(words)),
        .environment = settings_.runs_on.environment,
        .output_file = folder_.file("log"),
        .folder = folder_.path().string()});
    bool is_ready = false;
    const auto is_settled = [&] {
        if (!process_->is_running()) return true;
        if (process_in(folder_.file("pid")) != pid()) return false;
        try {
            is_ready = superuser().value("SELECT 1") == "1";
        } catch (const mariadb_failure&) {}  // not yet
        return is_ready;
    };
    return eventually(is_settled, 60s) && is_ready;
}

std::string url_of(const std::vector<std::unique_ptr<mariadb_server>>& nodes,
                   const std::vector<std::size_t>& indexes, const std::string& more) {
    std::string hosts;
    for (const auto each : indexes)
        hosts += (hosts.empty() ? "" : ",") + nodes.at(each)->host() + ":" +
                 std::to_string(nodes.at(each)->port());
    return "mysql://root@" + hosts + "/pawl" + more;
}

}  // namespace support
