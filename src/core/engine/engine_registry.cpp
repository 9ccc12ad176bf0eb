// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "engine_registry.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

namespace asio = boost::asio;

namespace pawl::core {

class engine_registry::context_service : public asio::execution_context::service {
public:
    using key_type = context_service;
    static inline asio::execution_context::id id;

    explicit context_service(asio::execution_context& context) : service(context) {}
    [[nodiscard]] const std::shared_ptr<engine_registry>& registry() const noexcept {
        return registry_;
    }

private:
    // `abandon` may destroy other engines, so each one is looked up anew.
    void shutdown() override {
        while (const auto engine = registry_->remove_any())
            engine->abandon();
    }

    std::shared_ptr<engine_registry> registry_ = std::make_shared<engine_registry>();
};

std::shared_ptr<engine_registry> engine_registry::registry_of(
    const asio::any_io_executor& executor) {
    return asio::use_service<context_service>(asio::query(executor, asio::execution::context))
        .registry();
}

void engine_registry::add(const std::shared_ptr<member>& engine) {
    const std::lock_guard lock(mutex_);
    members_[engine.get()] = engine;
}

void engine_registry::remove(const member& engine) noexcept {
    const std::lock_guard lock(mutex_);
    members_.erase(&engine);
}

std::shared_ptr<engine_registry::member> engine_registry::remove_any() {
    const std::lock_guard lock(mutex_);
    while (!members_.empty()) {
        auto engine = members_.begin()->second.lock();
        members_.erase(members_.begin());
        if (engine) return engine;
    }
    return nullptr;
}

}  // namespace pawl::core
