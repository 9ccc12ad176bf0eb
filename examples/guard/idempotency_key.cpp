// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A server that takes a payment once, however often a client repeats its request. "anna" stands for
// what the request's credentials say.
#include <pawl/guard/beast.hpp>
#include <pawl/guard/schema.hpp>
#include <pawl/guard/sqlite.hpp>

#include <boost/asio.hpp>
#include <boost/beast.hpp>

#include <sqlite3.h>

#include <iostream>
#include <thread>

namespace guard = pawl::guard;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
void serve(tcp::socket& socket, guard::connection& db) {
    const guard::http_once run_once = [&](const auto& key, const auto& work) {
        return guard::once(db, key, {}, work);
    };
    const guard::beast_handler pay = [&](const auto& request, const guard::attempt&) {
        db.execute({"INSERT INTO payments(body) VALUES(?1)", {request.body()}});
        return guard::beast_response(http::status::created, 11, "paid");
    };
    boost::beast::flat_buffer buffer;
    for (int i = 0; i < 2; ++i) {
        guard::beast_request request;
        http::read(socket, buffer, request);
        http::write(socket, guard::idempotent(request, "anna", "/payments", {}, run_once, pay));
    }
}

int main() {
    sqlite3* opened = nullptr;
    sqlite3_open(":memory:", &opened);
    guard::sqlite_connection db(opened);
    guard::make_tables(db);
    db.execute({"CREATE TABLE payments(body TEXT)"});
    boost::asio::io_context context;
    tcp::acceptor acceptor(context, {boost::asio::ip::address_v4::loopback(), 0});
    tcp::socket client(context);
    client.connect(acceptor.local_endpoint());
    std::jthread server([&, socket = acceptor.accept()]() mutable { serve(socket, db); });
    guard::beast_request request(http::verb::post, "/payments", 11, "10 EUR");
    request.set("Idempotency-Key", "8e03978e-40d5-43dd-bc93-6894a57f9324");
    request.prepare_payload();
    for (int i = 0; i < 2; ++i) {
        http::write(client, request);
        boost::beast::flat_buffer buffer;
        guard::beast_response response;
        http::read(client, buffer, response);
        std::cout << response;
    }
    server.join();
    return db.execute({"SELECT body FROM payments"}).values.size() == 1 ? 0 : 1;
}
