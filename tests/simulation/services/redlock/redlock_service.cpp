// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_service.hpp"

#include "../../server/service_from.hpp"

#include <redis/redlock/redlock_options.hpp>
#include <redis/topology/single_server.hpp>

#include <memory>
#include <string>
#include <utility>

namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

// As the real link, it knows why there is no connection, and goes on connecting by itself.
class node_link final : public redis::link, private redis::link::listener {
public:
    node_link(const redis::link_factory& connect, redis::link::listener& receiver,
              const std::string& channel, node_link_faults faults, runtime& time)
        : receiver_(&receiver), faults_(faults), actual_(connect(*this, channel)) {
        if (faults.bug != redlock_bug::none)
            actual_ = inject_link_bug(faults.bug, std::move(actual_), time);
    }

    asio::awaitable<redis::reply> exec(std::span<const std::string_view> words,
                                       time_point give_up_at, redis::prelude before) override {
        try {
            co_return co_await actual_->exec(words, give_up_at, before);
        } catch (const redis::connection_lost&) {
            throw;
        } catch (const error& e) {
            if (!actual_->connected()) failure_ = e.what();
            throw;
        }
    }
    const redis::session& current() const noexcept override { return actual_->current(); }
    bool connected() const noexcept override { return actual_->connected(); }
    std::string connection_failure() const override { return failure_; }
    asio::awaitable<void> close(time_point give_up_at) override {
        return actual_->close(give_up_at);
    }
    void forget_listener() noexcept override {
        receiver_ = nullptr;
        actual_->forget_listener();
    }

private:
    void on_message(std::string_view channel, std::string_view payload) override {
        const bool is_lost = faults_.loses_messages && payload.starts_with("lost ");
        if (receiver_ != nullptr && !is_lost && is_heard(faults_.bug, payload))
            receiver_->on_message(channel, payload);
    }
    void on_invalidate(std::string_view) override {}
    void on_connected(const redis::link&) override {
        failure_.clear();
        if (receiver_ != nullptr) receiver_->on_connected(*this);
    }
    void on_disconnected(const redis::link&) noexcept override {
        failure_ = "the connection ended";
        if (receiver_ != nullptr) receiver_->on_disconnected(*this);
    }

    redis::link::listener* receiver_;
    const node_link_faults faults_;
    std::shared_ptr<redis::link> actual_;
    std::string failure_;
};

}  // namespace

std::vector<redis::topology_factory> node_factories(const node_choices& nodes,
                                                    simulated_process& process,
                                                    const backend_context& context,
                                                    const redlock::options& options,
                                                    node_link_faults faults) {
    std::vector<redis::topology_factory> result;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto connect = simulated_link_factory(
            nodes[i], process, context, redlock::options_of_node(options, i), injected_bug::none);
        result.push_back(redis::single_server_factory(
            [connect, faults, time = context.time](redis::link::listener& receiver,
                                                   const std::string& channel) {
                return std::make_shared<node_link>(connect, receiver, channel, faults, *time);
            }));
    }
    return result;
}

service redlock_service(node_choices nodes, simulated_process& process,
                        const redlock::options& options, const redis::limits& limits,
                        node_link_faults faults) {
    return service_from("simulated nodes", [=, &process](const backend_context& context) {
        auto made = redlock::make_backend(
            options, context, node_factories(nodes, process, context, options, faults), limits);
        return inject_backend_bug(faults.bug, std::move(made), context);
    });
}

}  // namespace pawl::simulation
