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

namespace {

using namespace std::chrono_literals;

std::uint16_t free_port() {
    std::uint16_t port = 0;
    ::close(listen_on(port));
    return port;
}

std::string program() {
    const char* named = std::getenv("PAWL_TEST_SERVER");
    return named != nullptr && *named != '\0' ? named : "redis-server";
}

void run_openssl(const std::string& folder, const std::string& arguments) {
    pawl::conformance::launch how;
    how.words = {"openssl"};
    std::istringstream words(arguments);
    for (std::string word; words >> word;)
        how.words.push_back(word);
    how.folder = folder;
    how.output_file = folder + "/openssl.log";
    pawl::conformance::child openssl(how);
    if (openssl.wait(30s) != 0) throw std::runtime_error("openssl failed: " + arguments);
}

}  // namespace

redis_server::redis_server(redis_plan plan)
    : plan_(std::move(plan)), socket_(folder_.file("redis.sock")) {
    if (plan_.tls) make_certificates();
    // Another program may take the port between the look and the start: then on another one.
    for (int attempt = 0; attempt < 10; ++attempt) {
        port_ = free_port();
        if (try_start()) return;
    }
    throw std::runtime_error(program() + " does not start: " + log());
}

redis_server::~redis_server() {
    if (process_) process_->signal(SIGCONT);
}

std::string redis_server::url(const std::string& more) const {
    return std::string(plan_.tls ? "rediss" : "redis") + "://127.0.0.1:" + std::to_string(port_) +
           more;
}

std::string redis_server::unix_url(const std::string& more) const {
    return "redis+unix://" + socket_ + more;
}

std::string redis_server::log() const {
    std::ostringstream text;
    text << std::ifstream(folder_.file("log")).rdbuf();
    return text.str();
}

std::unique_ptr<resp_client> redis_server::connect() const {
    auto made = std::make_unique<resp_client>(endpoint{.port = 0, .unix_socket = socket_});
    if (!plan_.password.empty()) (void)made->ask({"AUTH", plan_.password});
    return made;
}

resp_value redis_server::ask(const command_words& words) {
    if (!asking_) asking_ = connect();
    return asking_->ask(words);
}

std::vector<std::string> redis_server::keys() {
    std::vector<std::string> result;
    for (const resp_value& each : ask({"KEYS", "*"}).items)
        result.push_back(each.text);
    std::sort(result.begin(), result.end());
    return result;
}

void redis_server::terminate() {
    asking_.reset();
    process_->signal(SIGCONT);
    process_->signal(SIGTERM);
    if (!process_->wait(20s)) process_->kill9();
}

void redis_server::kill9() {
    asking_.reset();
    process_->kill9();
}

void redis_server::freeze() { process_->stop(); }

void redis_server::thaw() { process_->proceed(); }

bool redis_server::running() { return process_ && process_->running(); }

void redis_server::start(bool with_data) {
    if (running()) throw std::runtime_error("the server runs already");
    if (!with_data)
        for (const auto& each : std::filesystem::directory_iterator(folder_.path()))
            if (const auto name = each.path().filename().string();
                name.starts_with("appendonly") || name.ends_with(".rdb"))
                std::filesystem::remove_all(each.path());
    // The port is still ours, but connections of the old one may linger for a moment.
    if (!eventually([this] { return try_start(); }, 10s))
        throw std::runtime_error(program() + " does not start again: " + log());
}

bool redis_server::try_start() {
    write_config();
    asking_.reset();
    std::filesystem::remove(socket_);
    std::vector<std::string> words{program(), folder_.file("redis.conf")};
    if (plan_.sentinel) words.emplace_back("--sentinel");
    process_.emplace(pawl::conformance::launch{.words = words,
                                               .environment = {},
                                               .output_file = folder_.file("log"),
                                               .folder = folder_.path().string()});
    bool answers = false;
    const bool done = eventually(
        [&] {
            if (!process_->running()) return true;
            try {
                answers = !ask({"PING"}).text.starts_with("LOADING");
            } catch (const std::runtime_error&) {
                asking_.reset();
            }
            return answers;
        },
        20s);
    return done && answers;
}

void redis_server::write_config() const {
    std::ofstream file(folder_.file("redis.conf"));
    file << "bind 127.0.0.1\nunixsocket " << socket_ << "\nunixsocketperm 700\nsave \"\"\n"
         << "daemonize no\ndir " << folder_.path().string() << "\n";
    if (plan_.tls)
        file << "port 0\ntls-port " << port_
             << "\ntls-cert-file server.crt\ntls-key-file server.key\n"
             << "tls-ca-cert-file ca.crt\ntls-auth-clients "
             << (plan_.client_certificates ? "yes" : "no") << "\n";
    else
        file << "port " << port_ << "\n";
    for (const std::string& line : plan_.config)
        file << line << "\n";
}

// ca.crt signs server.crt (127.0.0.1, localhost) and client.crt; other-ca.crt signs nothing.
void redis_server::make_certificates() const {
    const std::string folder = folder_.path().string();
    const std::string key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes ";
    std::ofstream(folder_.file("names")) << "subjectAltName=IP:127.0.0.1,DNS:localhost\n";
    for (const std::string& name : {std::string("ca"), std::string("other-ca")})
        run_openssl(folder, "req -x509 -days 2 -subj /CN=" + name + " " + key + "-keyout " + name +
                                ".key -out " + name + ".crt");
    for (const std::string& name : {std::string("server"), std::string("client")}) {
        run_openssl(folder, "req -new -subj /CN=" + name + " " + key + "-keyout " + name +
                                ".key -out " + name + ".csr");
        run_openssl(
            folder,
            "x509 -req -days 2 -CA ca.crt -CAkey ca.key -CAcreateserial -extfile names -in " +
                name + ".csr -out " + name + ".crt");
    }
}

}  // namespace support
