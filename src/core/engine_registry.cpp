#include "engine_registry.hpp"

#include "engine.hpp"

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

namespace asio = boost::asio;

namespace pawl::core {

class engine_registry::home : public asio::execution_context::service {
public:
    using key_type = home;
    static inline asio::execution_context::id id;

    explicit home(asio::execution_context& of) : service(of) {}
    [[nodiscard]] const std::shared_ptr<engine_registry>& registry() const noexcept {
        return registry_;
    }

private:
    // Abandoning one may destroy another, so each is looked up anew.
    void shutdown() override {
        while (const auto member = registry_->take_any())
            member->abandon();
    }

    std::shared_ptr<engine_registry> registry_ = std::make_shared<engine_registry>();
};

std::shared_ptr<engine_registry> engine_registry::of(const asio::any_io_executor& executor) {
    return asio::use_service<home>(asio::query(executor, asio::execution::context)).registry();
}

void engine_registry::add(const std::shared_ptr<engine>& member) {
    const std::lock_guard lock(mutex_);
    members_[member.get()] = member;
}

void engine_registry::remove(const engine& member) noexcept {
    const std::lock_guard lock(mutex_);
    members_.erase(&member);
}

std::shared_ptr<engine> engine_registry::take_any() {
    const std::lock_guard lock(mutex_);
    while (!members_.empty()) {
        auto member = members_.begin()->second.lock();
        members_.erase(members_.begin());
        if (member) return member;
    }
    return nullptr;
}

}  // namespace pawl::core
