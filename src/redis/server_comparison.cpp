#include "server_comparison.hpp"

#include "connection.hpp"
#include "greeting.hpp"

#include "../core/alarm.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

struct meeting {
    meeting(const options& url, const asio::any_io_executor& on, runtime& time,
            const addresses& all)
        : where(url), strand(on), left(all.size()), over(time, on) {
        for (const auto& each : all) {
            servers.push_back({each, false, {}, "it took the connection and did not answer"});
            connections.push_back(std::make_shared<connection>(where, strand));
        }
    }

    const options where;
    const asio::any_io_executor strand;
    std::vector<met_server> servers;
    std::vector<std::shared_ptr<connection>> connections;
    std::size_t left;
    core::alarm over;
};

// Its end, whichever it is, is the end of those who wait for an answer.
asio::awaitable<void> read_answers(std::shared_ptr<meeting> of, std::shared_ptr<connection> on) {
    struct dropping {
        std::shared_ptr<connection> from;
        ~dropping() { from->drop_all(); }
    } const at_end{on};
    std::function<void(const reply&)> ignored = [](const reply&) {};
    const auto why = co_await on->read(std::move(ignored));
    on->fail_all(describe_connect_error(why));
    of.reset();
}

void read_identity(const std::vector<reply>& answers, met_server& to) {
    for (const auto& each : answers) {
        if (each.what == reply::kind::error) to.trouble = "it says \"" + each.text + "\"";
    }
    if (answers.back().what != reply::kind::string) return;
    to.run_id = info_field(answers.back().text, "run_id");
    if (to.run_id.empty()) to.trouble = "its INFO has no run_id";
}

asio::awaitable<void> ask_identity(std::shared_ptr<meeting> of, std::size_t number) {
    const auto on = of->connections[number];
    auto& server = of->servers[number];
    const auto failed = co_await on->open(server.at);
    server.reached = on->opened() || on->shakes_hands();
    if (failed) {
        server.trouble = describe_connect_error(failed);
        co_return;
    }
    asio::co_spawn(of->strand, read_answers(of, on), asio::detached);
    const auto questions = identity_questions(of->where);
    pending asked;
    on->send(asked, questions.text, questions.replies);
    co_await asked.async_answer();
    asked.throw_failure("it");
    asked.earlier.push_back(std::move(asked.answer));
    read_identity(asked.earlier, server);
}

asio::awaitable<void> meet(std::shared_ptr<meeting> of, std::size_t number) {
    try {
        co_await ask_identity(of, number);
    } catch (const std::exception& e) {
        of->servers[number].trouble = e.what();
    }
    of->connections[number]->close();
    if (--of->left == 0) of->over.ring();
}

}  // namespace

asio::awaitable<std::vector<met_server>> meet_servers(const options& where,
                                                      asio::any_io_executor strand, runtime& time,
                                                      const addresses& all, time_point give_up_at) {
    const auto now = std::make_shared<meeting>(where, strand, time, all);
    for (std::size_t i = 0; i < all.size(); ++i)
        asio::co_spawn(strand, meet(now, i), asio::detached);
    while (now->left > 0 && time.now() < give_up_at)
        co_await now->over.wait_until(give_up_at);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& on = *now->connections[i];
        if (on.opened() || on.shakes_hands()) now->servers[i].reached = true;
    }
    auto servers = now->servers;
    for (const auto& each : now->connections)
        each->close();
    co_return servers;
}

void refuse_several(const std::string& about, const address& at, const std::string& run_id,
                    const std::vector<met_server>& others) {
    for (const auto& each : others) {
        if (!each.reached || (!run_id.empty() && each.run_id == run_id)) continue;
        const auto both = host_of(at) + " and " + host_of(each.at);
        if (!run_id.empty() && !each.run_id.empty())
            throw several_servers(about + " has several servers behind it: " + both +
                                  " are two, and each would give the same lock; name one of them "
                                  "in the URL.");
        throw several_servers(
            about + " has several addresses, and " + both + " may be two servers: " +
            (run_id.empty() ? "the user may not read the run_id with INFO"
                            : host_of(each.at) + " does not say its run_id, " + each.trouble) +
            "; name one of them in the URL, or allow INFO.");
    }
}

void refuse_other(const std::string& about, const address& known, const address& at) {
    throw several_servers(about + " has several servers behind it: it was " + host_of(known) +
                          " so far, which does not answer, and " + host_of(at) +
                          " is another one; name one of them in the URL.");
}

}  // namespace pawl::redis
