// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_link.hpp"

#include "messages.hpp"

#include "../../core/util/flag_guard.hpp"
#include "../../net/host_addresses.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <charconv>
#include <exception>

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace pawl::etcd {
namespace {

constexpr core::pause_lengths reconnect_pauses{.first = 50ms, .longest = 1s};
// Two calls in a row that waited so long without a byte of the member: the next one is asked.
constexpr duration shortest_silence = 300ms;

std::vector<net::endpoint> endpoints_of(const options& settings) {
    std::vector<net::endpoint> result;
    for (const auto& each : settings.servers)
        result.push_back(net::make_endpoint(each.host, each.port, settings.tls));
    return result;
}

bool has_credentials(const options& settings) noexcept {
    return !settings.user.empty() || settings.credentials;
}

int number_at(std::string_view text, std::size_t part) {
    for (; part > 0; --part) {
        const auto dot = text.find('.');
        if (dot == std::string_view::npos) return 0;
        text.remove_prefix(dot + 1);
    }
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

void check_status(const member_status& status, const std::string& subject) {
    const auto major = number_at(status.version, 0);
    if (major < 3 || (major == 3 && number_at(status.version, 1) < 4))
        throw error(errc::unsupported,
                    subject + " is etcd " + status.version + "; use etcd 3.4 or later.");
    if (status.is_learner)
        throw error(errc::unavailable,
                    subject + " is a learner, which serves no clients; name the other members.");
    if (status.leader == 0)
        throw error(errc::unavailable, subject +
                                           " has no leader: a majority of the members does "
                                           "not answer.");
}

}  // namespace

server_link::server_link(const options& settings, const backend_context& context)
    : context_(context),
      settings_{settings.tls, std::make_shared<net::tls_contexts>(settings.tls)},
      servers_(endpoints_of(settings)),
      connect_timeout_(settings.connect_timeout),
      reply_timeout_(settings.reply_timeout),
      credentials_(net::credential_options{{settings.user, settings.password},
                                           settings.password_file,
                                           "password_file",
                                           settings.credentials}),
      has_login_(has_credentials(settings)),
      pauses_(*context_.time, reconnect_pauses),
      changed_(*context_.time, context_.strand) {}

std::string server_link::subject_of(const net::endpoint& server) {
    return "etcd at " + net::text_of(server);
}

std::string server_link::subject() const {
    if (present_) return subject_of(present_->server());
    std::string text = "etcd at ";
    for (const auto& each : servers_)
        text += (&each == &servers_.front() ? "" : ",") + net::text_of(each);
    return text;
}

std::string server_link::unreachable_reason() const {
    return present_ || !failure_ ? std::string() : failure_->what();
}

asio::awaitable<std::shared_ptr<connection>> server_link::get(time_point give_up_at) {
    const auto self = shared_from_this();
    bool has_waited = false;
    for (;;) {
        made_in_.throw_if_forked();
        if (is_closed_) throw error(errc::cancelled, "The client is closed.");
        if (present_ && present_->is_usable()) co_return present_;
        if (!is_connecting_) {
            // The attempt that this call has waited for has failed, or the next one is not due.
            if (failure_ && (has_waited || now() < retry_at_)) throw error(*failure_);
            is_connecting_ = true;
            asio::co_spawn(context_.strand, connect(self), asio::detached);
        }
        has_waited = true;
        const bool was_notified = co_await changed_.wait_until(give_up_at);
        if (!was_notified && now() >= give_up_at)
            throw error(errc::unreachable,
                        subject() + " could not be reached in time" +
                            (failure_ ? std::string(": ") + failure_->what() : std::string(".")));
    }
}

// One round over all members, beginning with the one behind the last that failed.
asio::awaitable<void> server_link::connect(std::shared_ptr<server_link> self) {
    std::optional<error> failure;
    std::shared_ptr<connection> made;
    for (std::size_t i = 0; i < self->servers_.size() && !made && !self->is_closed_; ++i) {
        if (self->made_in_.is_forked()) co_return;
        const auto server = self->servers_[self->next_server_];
        std::optional<error> failed;
        try {
            made = co_await self->connect_to(server, self->now() + self->connect_timeout_);
        } catch (const error& thrown) {
            failed = thrown;
        } catch (const std::exception& thrown) {
            failed = error(errc::exhausted, thrown.what());
        }
        if (!failed) continue;
        self->next_server_ = (self->next_server_ + 1) % self->servers_.size();
        // A member that is away may come back, so its failure is the one that counts.
        if (!failure || (failed->is_transient() && !failure->is_transient())) failure = failed;
    }
    self->is_connecting_ = false;
    if (made && self->is_closed_) made->end("the client is closed");
    if (made) {
        self->present_ = std::move(made);
        self->failure_.reset();
        self->pauses_.reset();
        self->silent_calls_ = 0;
        ++self->context_.counts->connections;
    } else if (failure) {
        self->retry_at_ = self->now() + self->pauses_.next_pause();
        self->failure_ =
            error(failure->reason(), failure->what(), failure->is_transient(), self->retry_at_);
    }
    if (const auto notice = self->settings_.contexts->take_notice();
        !notice.empty() && self->context_.log)
        self->context_.log(notice);
    self->changed_.notify_all();
}

asio::awaitable<std::shared_ptr<connection>> server_link::connect_to(net::endpoint server,
                                                                     time_point give_up_at) {
    const auto hosts = co_await net::host_addresses(server.host, "an etcd server", give_up_at,
                                                    context_.strand, *context_.time);
    std::optional<error> failure;
    for (const auto& each : hosts) {
        if (is_closed_) break;
        const net::address server_address =
            asio::ip::tcp::endpoint(asio::ip::make_address(each), server.port);
        try {
            co_return co_await connect_to_address(server, server_address, give_up_at);
        } catch (const error& failed) {
            failure = failed;
        }
    }
    if (failure) throw error(*failure);
    throw error(errc::cancelled, "The client is closed.");
}

struct server_link::opening {
    std::shared_ptr<connection> made;
    error_code result{};
    bool is_done = false;
    core::wakeup done;
};

// Beside its caller, so that a time limit can end it.
asio::awaitable<void> server_link::open(std::shared_ptr<server_link> self,
                                        std::shared_ptr<opening> attempt,
                                        net::address server_address) {
    static_cast<void>(self);
    attempt->result = co_await attempt->made->open(std::move(server_address));
    attempt->is_done = true;
    attempt->done.notify();
}

asio::awaitable<std::shared_ptr<connection>> server_link::connect_to_address(
    net::endpoint server, net::address server_address, time_point give_up_at) {
    const auto self = shared_from_this();
    const auto attempt = std::make_shared<opening>(
        opening{.made = std::make_shared<connection>(settings_, server, context_.strand),
                .done = core::wakeup(*context_.time, context_.strand)});
    const auto made = attempt->made;
    const auto name = subject_of(server);
    asio::co_spawn(context_.strand, open(self, attempt, std::move(server_address)), asio::detached);
    while (!attempt->is_done && now() < give_up_at)
        co_await attempt->done.wait_until(give_up_at);
    if (!attempt->is_done) {
        made->end("no connection in time");
        throw error(errc::unreachable, name + ": no connection within " +
                                           std::to_string(connect_timeout_ / 1ms) +
                                           " ms; check host and port.");
    }
    if (attempt->result) {
        const auto reason = attempt->result;
        const auto explained = made->explain_end(reason, name);
        made->end("no connection");
        if (explained) throw error(*explained);
        throw error(errc::unreachable, name + ": " + reason.message() +
                                           "; check host and port, and that etcd runs there.");
    }
    asio::co_spawn(context_.strand, read(self, made), asio::detached);
    std::exception_ptr failure;
    try {
        co_await check_member(made, give_up_at);
    } catch (...) {
        failure = std::current_exception();
    }
    if (failure) {
        made->end("the member cannot be used");
        std::rethrow_exception(failure);
    }
    co_return made;
}

// The first call shows whether the server is an etcd that can serve clients.
asio::awaitable<void> server_link::check_member(std::shared_ptr<connection> used,
                                                time_point give_up_at) {
    unary_call first(used, *context_.time, context_.strand);
    const auto result = co_await first.run(methods::status, {}, {}, give_up_at);
    const auto name = subject_of(used->server());
    if (result.status.code != call_status::ok) {
        if (const auto explained = used->explain_end(used->ended_by(), name))
            throw error(*explained);
        throw error(to_error(result.status, name, has_login_));
    }
    check_status(read_status(result.answer), name);
}

asio::awaitable<void> server_link::read(std::shared_ptr<server_link> self,
                                        std::shared_ptr<connection> used) {
    const auto reason = co_await used->read();
    const auto explained = used->explain_end(reason, subject_of(used->server()));
    used->end(explained ? explained->what() : "the connection has ended: " + reason.message());
    if (self->present_ == used) self->leave(used, {});
}

asio::awaitable<std::string> server_link::call(std::string_view method, std::string request,
                                               time_point give_up_at) {
    const auto self = shared_from_this();
    for (bool is_repeated = false;; is_repeated = true) {
        const auto used = co_await get(give_up_at);
        const auto metadata = co_await fields(used, give_up_at);
        const auto token = token_;
        const auto sent_at = now();
        ++context_.counts->requests;
        unary_call running(used, *context_.time, context_.strand);
        auto result = co_await running.run(method, metadata, request,
                                           std::min(give_up_at, sent_at + reply_timeout_));
        if (result.status.code == call_status::ok) {
            silent_calls_ = 0;
            co_return std::move(result.answer);
        }
        on_result(used, result, now() - sent_at);
        // Such a call was not carried out.
        if (has_login_ && !is_repeated && needs_login(result.status)) {
            if (token_ == token) token_.clear();
            is_without_logins_ = false;
            continue;
        }
        throw call_error(to_error(result.status, subject_of(used->server()), has_login_));
    }
}

void server_link::on_result(const std::shared_ptr<connection>& used, const call_result& result,
                            duration waited) {
    if (result.status.code == call_status::deadline_exceeded) {
        if (!result.is_silent) silent_calls_ = 0;
        if (!result.is_silent || waited < std::min(shortest_silence, reply_timeout_)) return;
        if (++silent_calls_ >= 2 || waited >= reply_timeout_)
            leave(used, "the member does not answer");
        return;
    }
    on_failure(used, result.status);
}

void server_link::on_failure(const std::shared_ptr<connection>& used, const call_status& status) {
    if (is_member_failure(status) && servers_.size() > 1) leave(used, status.message);
}

// The next call goes to the next member. What the old one has not answered is not known.
void server_link::leave(const std::shared_ptr<connection>& used, const std::string& reason) {
    if (present_ == used) {
        present_ = nullptr;
        next_server_ = (next_server_ + 1) % servers_.size();
        silent_calls_ = 0;
    }
    used->end(reason);
    changed_.notify_all();
}

asio::awaitable<std::vector<std::pair<std::string, std::string>>> server_link::fields(
    std::shared_ptr<connection> used, time_point give_up_at) {
    if (has_login_ && token_.empty() && !is_without_logins_) co_await log_in(used, give_up_at);
    // A member without a leader then answers at once, and does not serve old data.
    std::vector<std::pair<std::string, std::string>> result{{"hasleader", "true"}};
    if (!token_.empty()) result.emplace_back("token", token_);
    co_return result;
}

// The password is checked slowly, so all callers wait for one login.
asio::awaitable<void> server_link::log_in(std::shared_ptr<connection> used, time_point give_up_at) {
    while (is_logging_in_ && now() < give_up_at)
        co_await changed_.wait_until(give_up_at);
    if (!token_.empty() || is_without_logins_) co_return;
    if (is_logging_in_) throw error(errc::unreachable, subject() + ": no login in time.");
    struct notify_at_exit {
        server_link& link;
        ~notify_at_exit() {
            link.is_logging_in_ = false;
            link.changed_.notify_all();
        }
    } const guard{*this};
    is_logging_in_ = true;
    co_await authenticate(used, std::max(give_up_at, now() + reply_timeout_));
}

asio::awaitable<void> server_link::authenticate(std::shared_ptr<connection> used,
                                                time_point give_up_at) {
    const std::function<bool()> is_over = [used] { return used->is_over(); };
    const auto login =
        co_await credentials_.get(*context_.time, context_.strand, give_up_at, is_over);
    if (const auto notice = credentials_.take_notice(); !notice.empty() && context_.log)
        context_.log(notice);
    unary_call running(used, *context_.time, context_.strand);
    const auto request = authenticate_request(login.user, login.password);
    const auto result = co_await running.run(methods::authenticate, {}, request, give_up_at);
    if (result.status.code == call_status::failed_precondition) {
        is_without_logins_ = true;
        co_return;
    }
    if (result.status.code != call_status::ok) {
        const bool is_refused = result.status.code == call_status::invalid_argument ||
                                result.status.code == call_status::unauthenticated;
        if (is_refused) static_cast<void>(credentials_.refuse(login));
        throw error(to_error(result.status, subject_of(used->server()), true));
    }
    credentials_.accept(login);
    token_ = read_token(result.answer);
}

asio::awaitable<std::string> server_link::call_member(net::endpoint server, std::string_view method,
                                                      std::string request, time_point give_up_at) {
    const auto self = shared_from_this();
    const auto used = co_await connect_to(server, give_up_at);
    struct end_at_exit {
        connection& used;
        ~end_at_exit() { used.end("done"); }
    } const guard{*used};
    const auto metadata = co_await fields(used, give_up_at);
    unary_call running(used, *context_.time, context_.strand);
    auto result = co_await running.run(method, metadata, request, give_up_at);
    if (result.status.code != call_status::ok)
        throw call_error(to_error(result.status, subject_of(server), has_login_));
    co_return std::move(result.answer);
}

void server_link::close(const std::string& reason) {
    is_closed_ = true;
    if (const auto ended = std::exchange(present_, nullptr)) ended->end(reason);
    credentials_.notify_waiters();
    changed_.notify_all();
}

}  // namespace pawl::etcd
