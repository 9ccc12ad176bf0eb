// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "simulated_session.hpp"

#include "../../server/service_from.hpp"
#include "core/util/random.hpp"
#include "sql/backend.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// A session without any answer for so long ends.
constexpr duration longest_silence = 3s;

}  // namespace

service sql_database::connect(simulated_process& process) {
    return service_from("simulated", [this, &process](const backend_context& context) {
        return sql::make_backend(std::make_unique<simulated_connector>(*this, process, context),
                                 "pawl", context);
    });
}

simulated_session::simulated_session(sql_database& database, const spi::backend_context& context,
                                     sql::session_handlers handlers)
    : database_(database),
      context_(context),
      handlers_(std::move(handlers)),
      answered_at_(context.time->now()) {}

bool simulated_session::open(simulated_process& process, std::string client) {
    if (!database_.is_up()) return false;
    link_ = database_.open(process, std::move(client), facts_);
    link_->user = this;
    return true;
}

asio::awaitable<std::vector<sql::row>> simulated_session::run(const sql::call& request,
                                                              time_point give_up_at) {
    const auto self = shared_from_this();
    auto& time = *context_.time;
    if (is_over()) throw sql::no_answer("The session is over.");
    if (request.function == "renew") listen();
    const auto asked_at = time.now();
    const auto made = std::make_shared<pending>(pending{core::wakeup(time, context_.strand)});
    calls_.push_back(made);
    struct entry {
        simulated_session& session;
        const std::shared_ptr<pending>& made;
        ~entry() { std::erase(session.calls_, made); }
    } const waiting{*self, made};
    database_.send(link_, changed(request),
                   [this, weak = std::weak_ptr(made)](std::vector<sql::row> answer) {
                       answered_at_ = context_.time->now();
                       const auto alive = weak.lock();
                       if (!alive) return;
                       alive->answer = std::move(answer);
                       alive->answered.notify();
                   });
    while (!made->answer) {
        const auto silent_at = std::max(asked_at, answered_at_) + longest_silence;
        co_await made->answered.wait_until(std::min(give_up_at, silent_at));
        if (made->answer) break;
        if (!is_over() && time.now() >= std::max(asked_at, answered_at_) + longest_silence) end();
        if (is_over()) throw sql::no_answer("The session has ended.");
        if (time.now() >= give_up_at) throw sql::no_answer("There was no answer in time.");
    }
    auto answer = *std::move(made->answer);
    const bool is_granted = !answer.empty() && answer.front().front() == "g";
    if (database_.bug() == sql_bug::deadline_from_answer && is_granted) {
        auto& remaining = *answer.front()[2];
        remaining = std::to_string(std::stoll(remaining) + (time.now() - asked_at) / 1ms);
    }
    co_return answer;
}

sql::call simulated_session::changed(const sql::call& request) {
    auto sent = request;
    if (database_.bug() != sql_bug::owner_per_client) return sent;
    const auto shared_owner = [&](const std::string& name) {
        return context_.process.command + name;
    };
    const auto& function = request.function;
    if (function == "acquire" || function == "refresh" || function == "leave" ||
        function == "release" || function == "downgrade") {
        const auto name = std::get<std::string>(sent.parameters[1]);
        auto& owner = std::get<std::string>(sent.parameters[2]);
        if (function == "acquire") owners_[name] = owner;
        owner = shared_owner(name);
    } else if (function == "renew") {
        const auto& names = std::get<std::vector<std::string>>(sent.parameters[2]);
        auto& owners = std::get<std::vector<std::string>>(sent.parameters[3]);
        std::ranges::transform(names, owners.begin(), shared_owner);
    }
    return sent;
}

void simulated_session::listen() {
    if (!is_over() && !std::exchange(is_listening_, true)) database_.listen(link_);
}

void simulated_session::close() noexcept {
    if (!link_) return;
    database_.close(std::exchange(link_, nullptr));
    for (const auto& each : calls_)
        each->answered.notify();
}

void simulated_session::end() {
    if (is_over()) return;
    close();
    asio::post(context_.strand, [self = shared_from_this()] { self->handlers_.on_end(); });
}

void simulated_session::receive(const std::string& message) {
    auto text = message;
    for (const auto& [name, owner] : owners_) {
        const auto shared_owner = context_.process.command + name;
        if (const auto at = text.find(shared_owner); at != std::string::npos)
            text.replace(at, shared_owner.size(), owner);
    }
    asio::post(context_.strand, [self = shared_from_this(), text] {
        if (!self->is_over()) self->handlers_.on_message(text);
    });
}

asio::awaitable<std::shared_ptr<sql::session>> simulated_connector::connect(
    sql::session_handlers handlers, time_point give_up_at) {
    auto& time = *context_.time;
    auto& random = database_.random();
    core::wakeup pause(time, context_.strand);
    co_await pause.wait_until(time.now() + instant(random.between(100'000, 10'000'000)));
    while (!database_.is_reachable(process_) && database_.is_up()) {
        if (time.now() >= give_up_at) throw error(errc::unreachable, "The database is away.");
        co_await pause.wait_until(std::min(give_up_at, time.now() + 100ms));
    }
    const bool is_one_client = database_.bug() == sql_bug::place_kept;
    auto client = is_one_client ? context_.process.command : core::random_hex(time, 8);
    const auto made = std::make_shared<simulated_session>(database_, context_, std::move(handlers));
    if (!made->open(process_, std::move(client)))
        throw random.happens(0.5) ? error(errc::unavailable, "The database is starting.")
                                  : error(errc::unreachable, "The database is down.");
    co_return made;
}

}  // namespace pawl::simulation
