// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "api.hpp"

#include "errors.hpp"
#include "json.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;

namespace pawl::consul {
namespace {

// Of a list: a thousand locks are about 0.4 MB.
constexpr std::size_t longest_list = 64 * 1024 * 1024;
// Consul adds up to a sixteenth to a wait, and the answer takes its time.
constexpr duration wait_grace = 5s;

net::credential_options credential_options_of(const options& settings) {
    net::credential_options result;
    result.fixed.password = settings.token;
    result.password_file = settings.token_file;
    result.file_option = "token_file";
    result.function = settings.credentials;
    return result;
}

http::client_settings client_settings_of(const options& settings) {
    http::client_settings result;
    result.product = "Consul";
    for (const auto& each : settings.servers)
        result.servers.push_back(net::make_endpoint(each.host, each.port, settings.tls));
    result.connections.tls = settings.tls;
    result.connections.contexts = std::make_shared<net::tls_contexts>(settings.tls);
    result.connections.without_tls = "consul";
    result.connections.with_tls = "consuls";
    result.connect_timeout = settings.connect_timeout;
    return result;
}

std::string seconds_text(duration length) { return std::to_string(length / 1s) + "s"; }

http::request put(std::string target, std::string body = {}) {
    http::request sent;
    sent.method = "PUT";
    sent.target = std::move(target);
    sent.body = std::move(body);
    return sent;
}

http::request get(std::string target) {
    http::request sent;
    sent.target = std::move(target);
    return sent;
}

json::value to_json(const operation& each) {
    json::object kv;
    kv["Verb"] = each.verb;
    kv["Key"] = each.key;
    if (!each.value.empty()) kv["Value"] = to_base64(each.value);
    if (!each.session.empty()) kv["Session"] = each.session;
    if (each.index != 0) kv["Index"] = each.index;
    if (each.flags != 0) kv["Flags"] = each.flags;
    json::object wrapped;
    wrapped["KV"] = std::move(kv);
    return wrapped;
}

}  // namespace

std::string encode_key(std::string_view key) {
    static constexpr char digits[] = "0123456789ABCDEF";
    static constexpr std::string_view plain = "-_.~/";
    std::string encoded;
    for (const char c : key) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (is_letter || (c >= '0' && c <= '9') || plain.find(c) != std::string_view::npos) {
            encoded += c;
            continue;
        }
        encoded += '%';
        encoded += digits[byte >> 4];
        encoded += digits[byte & 15];
    }
    return encoded;
}

api::api(const options& settings, const backend_context& context)
    : context_(context),
      lock_delay_(settings.lock_delay),
      credentials_(credential_options_of(settings)),
      client_(std::make_shared<http::client>(client_settings_of(settings), context)) {}

void api::close() {
    is_closed_ = true;
    credentials_.notify_waiters();
    client_->close();
}

// The token is read again for each new connection.
asio::awaitable<void> api::update_token(time_point give_up_at) {
    const auto made = client_->connections_made();
    if (login_ && made == token_of_connections_) co_return;
    const auto is_over = [this] { return is_closed_; };
    login_ = co_await credentials_.get(*context_.time, context_.strand, give_up_at, is_over);
    token_of_connections_ = made;
    const auto notice = credentials_.take_notice();
    if (!notice.empty() && context_.log) context_.log(notice);
}

asio::awaitable<http::response> api::send(http::request sent, time_point give_up_at) {
    const auto self = shared_from_this();
    const bool is_write = sent.method != "GET";
    for (bool is_repeated = false;; is_repeated = true) {
        co_await update_token(give_up_at);
        auto request = sent;
        if (!login_->password.empty())
            request.headers.emplace_back("X-Consul-Token", login_->password);
        auto received = co_await client_->send(std::move(request), give_up_at);
        const auto server = client_->server_name();
        if (is_unknown_token(received)) {
            const auto used = *login_;
            login_.reset();
            if (credentials_.refuse(used) && !is_repeated) continue;
        } else if (received.status < 300) {
            credentials_.accept(*login_);
        }
        if (received.status >= 500) client_->leave_server(server);
        check_response(received, client_->subject(), is_write, context_.time->now());
        co_return received;
    }
}

asio::awaitable<transaction_result> api::transact(std::vector<operation> operations,
                                                  time_point give_up_at) {
    const bool only_reads = std::ranges::all_of(
        operations, [](const auto& each) { return each.verb == "check-index"; });
    json::array body;
    for (const auto& each : operations)
        body.push_back(to_json(each));
    auto sent = put(only_reads ? "/v1/txn?consistent" : "/v1/txn", json::serialize(body));
    const auto received = co_await send(std::move(sent), give_up_at);
    co_return read_transaction(received.body, client_->subject());
}

reading api::to_reading(const http::response& received, const std::string& key) const {
    reading result;
    const auto text = received.header("x-consul-index");
    std::from_chars(text.data(), text.data() + text.size(), result.index);
    if (received.status == 404) return result;
    for (auto& each : read_entries(received.body, client_->subject()))
        if (each.key == key) result.stored = std::move(each);
    return result;
}

asio::awaitable<reading> api::read(std::string key, time_point give_up_at) {
    auto sent = get("/v1/kv/" + encode_key(key) + "?consistent");
    const auto received = co_await send(std::move(sent), give_up_at);
    co_return to_reading(received, key);
}

asio::awaitable<reading> api::wait_for_change(std::string key, std::uint64_t index, duration wait) {
    const auto milliseconds = std::to_string(wait / 1ms) + "ms";
    auto sent = get("/v1/kv/" + encode_key(key) + "?consistent&index=" + std::to_string(index) +
                    "&wait=" + milliseconds);
    sent.is_long = true;
    const auto limit = context_.time->now() + wait + wait / 16 + wait_grace;
    const auto received = co_await send(std::move(sent), limit);
    co_return to_reading(received, key);
}

asio::awaitable<std::vector<entry>> api::list(std::string prefix, time_point give_up_at) {
    auto sent = get("/v1/kv/" + encode_key(prefix) + "?consistent&recurse");
    sent.body_limit = longest_list;
    const auto received = co_await send(std::move(sent), give_up_at);
    if (received.status == 404) co_return std::vector<entry>{};
    co_return read_entries(received.body, client_->subject());
}

asio::awaitable<std::string> api::create_session(std::string name, duration ttl,
                                                 time_point give_up_at) {
    json::object body;
    body["Name"] = name;
    body["TTL"] = seconds_text(ttl);
    body["LockDelay"] = std::to_string(lock_delay_ / 1ms) + "ms";
    body["Behavior"] = "delete";
    // Without these lists, the health of the agent's host would be a part of the session.
    body["NodeChecks"] = json::array();
    body["Checks"] = json::array();
    auto sent = put("/v1/session/create", json::serialize(body));
    const auto received = co_await send(std::move(sent), give_up_at);
    co_return read_session_id(received.body, client_->subject());
}

asio::awaitable<bool> api::renew_session(std::string id, time_point give_up_at) {
    auto sent = put("/v1/session/renew/" + id);
    const auto received = co_await send(std::move(sent), give_up_at);
    co_return received.status != 404;
}

asio::awaitable<void> api::destroy_session(std::string id, time_point give_up_at) {
    auto sent = put("/v1/session/destroy/" + id);
    co_await send(std::move(sent), give_up_at);
}

asio::awaitable<std::optional<session_info>> api::describe_session(std::string id,
                                                                   time_point give_up_at) {
    auto sent = get("/v1/session/info/" + id);
    const auto received = co_await send(std::move(sent), give_up_at);
    co_return read_session_info(received.body, client_->subject());
}

asio::awaitable<json::value> api::examine(std::string path, time_point give_up_at) {
    auto sent = get(std::move(path));
    try {
        const auto received = co_await send(std::move(sent), give_up_at);
        if (received.status != 200) co_return json::value();
        co_return parse_json(received.body, client_->subject());
    } catch (const error& failed) {
        if (failed.reason() != errc::refused) throw;
    }
    co_return json::value();
}

}  // namespace pawl::consul
