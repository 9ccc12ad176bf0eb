// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sentinel_links.hpp"

#include "located_link.hpp"
#include "replies.hpp"
#include "service_from.hpp"
#include "simulated_link.hpp"

#include <core/util/random.hpp>
#include <core/util/wakeup.hpp>
#include <redis/sentinel/sentinel_locator.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// A program's link to one Sentinel. It counts as connected from the first request on.
class sentinel_link final : public redis::link {
public:
    sentinel_link(simulated_sentinels& sentinels, std::size_t number, simulated_process& process,
                  const backend_context& context, topology_bug bug, redis::link::listener& receiver)
        : sentinels_(sentinels),
          number_(number),
          context_(context),
          bug_(bug),
          receiver_(std::make_shared<message_receiver>(process, *this, receiver, bug)) {
        sentinels.subscribe(number, receiver_);
    }
    ~sentinel_link() override { receiver_->leave(); }

    asio::awaitable<redis::reply> exec(std::span<const std::string_view> words,
                                       time_point give_up_at, redis::prelude) override {
        return ask({words.begin(), words.end()}, give_up_at);
    }
    const redis::session& current() const noexcept override { return session_; }
    bool connected() const noexcept override { return true; }
    asio::awaitable<void> close(time_point) override {
        receiver_->leave();
        co_return;
    }
    void forget_listener() noexcept override { receiver_->leave(); }

private:
    class message_receiver final : public simulated_sentinels::subscriber {
    public:
        message_receiver(simulated_process& process, const sentinel_link& own,
                         redis::link::listener& receiver, topology_bug bug)
            : process_(process), link_(&own), listener_(&receiver), bug_(bug) {}
        simulated_process& process() override { return process_; }
        void on_announcement(std::string payload) override {
            if (listener_ != nullptr && bug_ != topology_bug::announcements_ignored)
                listener_->on_message("+switch-master", payload);
        }
        void on_reconnected() override {
            if (listener_ != nullptr) listener_->on_connected(*link_);
        }
        void leave() noexcept { listener_ = nullptr; }

    private:
        simulated_process& process_;
        const sentinel_link* link_;
        redis::link::listener* listener_;
        const topology_bug bug_;
    };

    [[nodiscard]] duration latency() const {
        return core::random_between(*context_.time, 50us, 2ms);
    }
    asio::awaitable<void> pass(time_point give_up_at) {
        core::wakeup timer(*context_.time, context_.strand);
        co_await timer.wait_until(context_.time->now() + latency());
        if (sentinels_.reaches(receiver_->process(), number_)) co_return;
        co_await timer.wait_until(give_up_at);
        throw redis::connection_lost("The simulated Sentinel does not answer.");
    }
    asio::awaitable<redis::reply> ask(std::vector<std::string> words, time_point give_up_at) {
        co_await pass(give_up_at);
        auto answer = sentinels_.answer(number_, words);
        const bool is_alone = bug_ == topology_bug::one_sentinel_decides && words.size() > 1 &&
                              words[1] == "SENTINELS";
        if (is_alone) answer = array_reply({});
        co_await pass(give_up_at);
        co_return answer;
    }
    simulated_sentinels& sentinels_;
    const std::size_t number_;
    const backend_context context_;
    const topology_bug bug_;
    const std::shared_ptr<message_receiver> receiver_;
    const redis::session session_{.connection_number = 1};
};

// As monitored_master.
class simulated_master final : public redis::topology {
public:
    simulated_master(std::shared_ptr<redis::sentinel_locator> sentinels,
                     std::shared_ptr<located_link> master)
        : sentinels_(std::move(sentinels)), master_(std::move(master)), link_(master_.get()) {
        sentinels_->on_moved([weak_master = std::weak_ptr(master_)](const std::string&) {
            if (const auto alive = weak_master.lock()) alive->reconnect();
        });
    }
    redis::link& link_of(std::string_view) const noexcept override { return *link_; }
    std::span<redis::link* const> links() const noexcept override { return {&link_, 1}; }
    asio::awaitable<void> close(time_point give_up_at) override {
        co_await topology::close(give_up_at);
        co_await sentinels_->close(give_up_at);
    }

private:
    const std::shared_ptr<redis::sentinel_locator> sentinels_;
    const std::shared_ptr<located_link> master_;
    redis::link* const link_;
};

// Makes the topology of one client.
class master_maker {
public:
    master_maker(simulated_sentinels& of, simulated_process& by, redis::options with,
                 topology_bug injected, backend_context around)
        : sentinels_(of),
          process_(by),
          options_(std::move(with)),
          bug_(injected),
          context_(std::move(around)) {
        if (bug_ != topology_bug::one_sentinel_decides) return;
        auto& addresses = std::get<redis::sentinels>(options_.where).addresses;
        const duration count(addresses.size());
        const auto picked = core::random_between(*context_.time, duration(0), count).count();
        addresses = {addresses[static_cast<std::size_t>(picked)]};
    }

    std::shared_ptr<redis::topology> operator()(redis::link::listener& receiver,
                                                const std::string& channel) const {
        auto locator =
            std::make_shared<redis::sentinel_locator>(options_, context_, sentinel_factory());
        located_link::settings settings{.servers = {},
                                        .first_port = simulated_sentinels::first_server_port,
                                        .connect_timeout = options_.connect_timeout,
                                        .bug = bug_};
        for (std::size_t i = 0; i < sentinels_.server_count(); ++i)
            settings.servers.push_back(server_factory(i));
        auto master = std::make_shared<located_link>(locator, std::move(settings), context_,
                                                     receiver, channel);
        return std::make_shared<simulated_master>(std::move(locator), std::move(master));
    }

private:
    [[nodiscard]] redis::sentinel_link_factory sentinel_factory() const {
        return [own = *this](const net::endpoint& server, redis::link::listener& receiver,
                             const std::string&) {
            return std::make_shared<sentinel_link>(
                own.sentinels_, server.port - simulated_sentinels::first_sentinel_port,
                own.process_, own.context_, own.bug_, receiver);
        };
    }
    [[nodiscard]] redis::link_factory server_factory(std::size_t server) const {
        const auto connect = simulated_link_factory(sentinels_.network(server), process_, context_,
                                                    options_, injected_bug::none);
        return [connect, injected = bug_](redis::link::listener& receiver,
                                          const std::string& channel) {
            return inject_link_bug(injected, connect(receiver, channel));
        };
    }

    simulated_sentinels& sentinels_;
    simulated_process& process_;
    redis::options options_;
    const topology_bug bug_;
    const backend_context context_;
};

// One address for each Sentinel, or only one: the client asks that one for the others.
redis::sentinels addresses_of(const simulated_sentinels& all) {
    redis::sentinels set;
    set.master_name = std::string(simulated_sentinels::master_name);
    for (std::size_t i = 0; i < all.sentinel_count(); ++i)
        set.addresses.push_back({"127.0.0.1", static_cast<std::uint16_t>(
                                                  simulated_sentinels::first_sentinel_port + i)});
    return set;
}

}  // namespace

service monitored_service(simulated_sentinels& sentinels, simulated_process& process,
                          redis::options options, const redis::limits& limits, topology_bug bug) {
    options.where = addresses_of(sentinels);
    return service_from("simulated Sentinels", [=, &sentinels, &process](backend_context context) {
        // Copies, since the client may outlive the service.
        const master_maker maker(sentinels, process, options, bug, context);
        return make_redis_backend(options, context, maker, limits);
    });
}

}  // namespace pawl::simulation
