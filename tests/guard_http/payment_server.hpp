// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A server with one route, POST /payments, over records in a SQLite file; and its client.
#pragma once

#include <pawl/guard/beast.hpp>
#include <pawl/guard/sqlite.hpp>

#include <support/temp_folder.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <sqlite3.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace guard_tests {

namespace guard = pawl::guard;
using boost::asio::ip::tcp;
using guard::beast_request;
using guard::beast_response;

using sqlite_handle = std::unique_ptr<sqlite3, decltype(&::sqlite3_close)>;
[[nodiscard]] sqlite_handle open_database(const std::string& path);

// What the handler does with a request; its body says it: "pay" inserts a payment and answers 201,
// "refuse" inserts one and answers 402, "busy" answers 503, "later" 429, "throw" throws, "large"
// answers 100,000 bytes, "wait" pays when `may_go_on` is true.
class payments {
public:
    explicit payments(std::string path);

    [[nodiscard]] beast_response handle(guard::connection& db, const beast_request& request);
    [[nodiscard]] std::int64_t count();
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    std::atomic<int> calls = 0;
    std::atomic<bool> may_go_on = false;

private:
    const std::string path_;
};

// A thread for each connection, and its own database connection.
class payment_server {
public:
    explicit payment_server(guard::idempotency_options options = {},
                            guard::once_options once = {.wait = {}});
    ~payment_server();
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] payments& bank() noexcept { return bank_; }

private:
    void accept();
    void serve(tcp::socket socket);

    const guard::idempotency_options options_;
    const guard::once_options once_;
    support::temp_folder folder_;
    payments bank_{folder_.file("payments.db")};
    boost::asio::io_context context_;
    tcp::acceptor acceptor_{context_, {boost::asio::ip::address_v4::loopback(), 0}};
    std::uint16_t port_ = acceptor_.local_endpoint().port();
    std::atomic<bool> is_ending_ = false;
    std::vector<std::jthread> connections_;
    std::jthread acceptor_thread_;
};

using header_list = std::vector<std::pair<std::string, std::string>>;

// One connection of a client.
class http_client {
public:
    explicit http_client(std::uint16_t port);
    // POST; of the account, which stands for what a server knows about its client.
    beast_response post(const std::string& body, const header_list& headers,
                        const std::string& target = "/payments",
                        const std::string& account = "anna");

private:
    boost::asio::io_context context_;
    tcp::socket socket_{context_};
};

}  // namespace guard_tests
