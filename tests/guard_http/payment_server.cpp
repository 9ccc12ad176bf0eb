// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "payment_server.hpp"

#include <pawl/guard/schema.hpp>
#include <support/eventually.hpp>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <stdexcept>

namespace guard_tests {

namespace http = boost::beast::http;

sqlite_handle open_database(const std::string& path) {
    sqlite3* opened = nullptr;
    const int code = ::sqlite3_open(path.c_str(), &opened);
    sqlite_handle handle(opened, &::sqlite3_close);
    if (code != SQLITE_OK) throw std::runtime_error(path + " cannot be opened");
    ::sqlite3_busy_timeout(opened, 60'000);
    return handle;
}

payments::payments(std::string path) : path_(std::move(path)) {
    const auto handle = open_database(path_);
    guard::sqlite_connection db(handle.get());
    guard::make_tables(db);
    (void)db.execute({"CREATE TABLE payments(body TEXT)"});
    (void)db.execute({"PRAGMA journal_mode = WAL"});
}

std::int64_t payments::count() {
    const auto handle = open_database(path_);
    guard::sqlite_connection db(handle.get());
    return guard::as_number(db.execute({"SELECT count(*) FROM payments"}).values.at(0).at(0));
}

beast_response payments::handle(guard::connection& db, const beast_request& request) {
    const int call = ++calls;
    const std::string& body = request.body();
    if (body == "throw") throw std::runtime_error("the handler throws");
    if (body == "wait") (void)support::eventually([this] { return may_go_on.load(); });
    beast_response response(http::status::created, request.version(),
                            "payment " + std::to_string(call));
    response.set(http::field::content_type, "text/plain");
    response.set(http::field::location, "/payments/" + std::to_string(call));
    response.set(http::field::date, "now");
    if (body == "busy") response.result(http::status::service_unavailable);
    if (body == "later") response.result(http::status::too_many_requests);
    if (body == "large") response.body() = std::string(100'000, 'x');
    if (body == "refuse") response.result(http::status::payment_required);
    (void)db.execute({"INSERT INTO payments(body) VALUES(?1)", {body}});
    return response;
}

payment_server::payment_server(guard::idempotency_options options, guard::once_options once)
    : options_(options), once_(once), acceptor_thread_([this] { accept(); }) {}

payment_server::~payment_server() {
    bank_.may_go_on = true;
    is_ending_ = true;
    tcp::socket last(context_);  // wakes the thread that accepts
    last.connect({boost::asio::ip::address_v4::loopback(), port_});
    acceptor_thread_.join();
    connections_.clear();
}

void payment_server::accept() {
    for (;;) {
        tcp::socket socket(context_);
        acceptor_.accept(socket);
        if (is_ending_) return;
        connections_.emplace_back(
            [this, moved = std::move(socket)]() mutable { serve(std::move(moved)); });
    }
}

void payment_server::serve(tcp::socket socket) {
    const auto handle = open_database(bank_.path());
    guard::sqlite_connection db(handle.get());
    boost::beast::flat_buffer buffer;
    const guard::http_once run_once = [&](const guard::once_key& key,
                                          const guard::once_work& work) {
        return guard::once(db, key, once_, work);
    };
    const guard::beast_handler handler = [&](const beast_request& request, const guard::attempt&) {
        return bank_.handle(db, request);
    };
    for (;;) {
        beast_request request;
        boost::system::error_code ended;
        http::read(socket, buffer, request, ended);
        if (ended) return;
        beast_response response(http::status::internal_server_error, request.version());
        try {
            response = guard::idempotent(request, std::string(request["Account"]), "/payments",
                                         options_, run_once, handler);
        } catch (const std::runtime_error& failed) {
            response.body() = failed.what();
            response.prepare_payload();
        }
        http::write(socket, response, ended);
    }
}

http_client::http_client(std::uint16_t port) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
}

beast_response http_client::post(const std::string& body, const header_list& headers,
                                 const std::string& target, const std::string& account) {
    beast_request request(http::verb::post, target, 11, body);
    request.set("Account", account);
    for (const auto& [name, content] : headers)
        request.insert(name, content);
    request.prepare_payload();
    http::write(socket_, request);
    boost::beast::flat_buffer buffer;
    beast_response response;
    http::read(socket_, buffer, response);
    return response;
}

}  // namespace guard_tests
