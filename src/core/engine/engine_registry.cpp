// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "engine_registry.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

namespace asio = boost::asio;

namespace pawl::core {

// Asio destroys the services, the newest first, after it has shut down all of them. A shutdown of
// the older services destroys the coroutines, so a service that is added during the shutdown is
// destroyed after all coroutines and before the services of timers and sockets.
class engine_registry::abandoned_engines : public asio::execution_context::service {
public:
    using key_type = abandoned_engines;
    static inline asio::execution_context::id id;

    explicit abandoned_engines(asio::execution_context& context) : service(context) {}
    ~abandoned_engines() override {
        for (const auto& [address, each] : engines_)
            each.abandoned->dispose();
    }
    // Needs no memory.
    const std::shared_ptr<member>& add(entries::node_type abandoned) noexcept {
        return engines_.insert(std::move(abandoned)).position->second.abandoned;
    }

private:
    void shutdown() override {}

    entries engines_;
};

class engine_registry::context_service : public asio::execution_context::service {
public:
    using key_type = context_service;
    static inline asio::execution_context::id id;

    explicit context_service(asio::execution_context& context) : service(context) {}
    [[nodiscard]] const std::shared_ptr<engine_registry>& registry() const noexcept {
        return registry_;
    }

private:
    // Asio shuts the services down twice. `abandon` may destroy other engines, so each engine is
    // looked up anew.
    void shutdown() override {
        if (!abandoned_) return;
        auto& abandoned = *abandoned_.release();
        // Its successor, `make_service`, needs memory.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        asio::add_service(context(), &abandoned);
#pragma GCC diagnostic pop
        while (auto next = registry_->extract_any())
            abandoned.add(std::move(next))->abandon();
    }

    std::shared_ptr<engine_registry> registry_ = std::make_shared<engine_registry>();
    // Made early: the end of the event loop must not need memory.
    std::unique_ptr<abandoned_engines> abandoned_ = std::make_unique<abandoned_engines>(context());
};

std::shared_ptr<engine_registry> engine_registry::registry_of(
    const asio::any_io_executor& executor) {
    return asio::use_service<context_service>(asio::query(executor, asio::execution::context))
        .registry();
}

void engine_registry::add(const std::shared_ptr<member>& engine) {
    const std::lock_guard lock(mutex_);
    members_[engine.get()] = {.engine = engine};
}

void engine_registry::remove(const member& engine) noexcept {
    const std::lock_guard lock(mutex_);
    members_.erase(&engine);
}

engine_registry::entries::node_type engine_registry::extract_any() {
    const std::lock_guard lock(mutex_);
    while (!members_.empty()) {
        auto first = members_.extract(members_.begin());
        first.mapped().abandoned = first.mapped().engine.lock();
        if (first.mapped().abandoned) return first;
    }
    return {};
}

}  // namespace pawl::core
