// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "coarse_service.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tested {

namespace {

namespace asio = boost::asio;

class coarse_backend final : public pawl::spi::backend {
public:
    explicit coarse_backend(std::unique_ptr<pawl::spi::backend> exact) : exact_(std::move(exact)) {}

    asio::awaitable<std::optional<pawl::spi::grant>> acquire(const pawl::spi::claim& requested,
                                                             pawl::time_point give_up_at) override {
        refuse_unsupported(requested.ttl);
        return exact_->acquire(requested, give_up_at);
    }
    asio::awaitable<void> renew(pawl::spi::renewal_batch& batch) override {
        for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
            if (!is_supported(batch.renewals()[i].ttl))
                batch.settle(i, pawl::spi::renewal::outcome::refused);
        }
        return exact_->renew(batch);
    }
    asio::awaitable<pawl::release_result> release(const pawl::spi::hold& held) override {
        return exact_->release(held);
    }
    asio::awaitable<pawl::lock_info> inspect(std::string_view name) override {
        return exact_->inspect(name);
    }
    asio::awaitable<std::vector<pawl::lock_info>> list(std::string_view prefix) override {
        return exact_->list(prefix);
    }
    asio::awaitable<std::optional<pawl::spi::grant>> downgrade(
        const pawl::spi::hold& held) override {
        refuse_unsupported(held.claim.ttl);
        return exact_->downgrade(held);
    }
    asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        return exact_->resize(name, permits);
    }
    asio::awaitable<bool> force_release(std::string_view name,
                                        pawl::fencing_token expected) override {
        return exact_->force_release(name, expected);
    }
    asio::awaitable<pawl::examination> examine() override { return exact_->examine(); }
    asio::awaitable<void> close(pawl::time_point give_up_at) override {
        return exact_->close(give_up_at);
    }
    pawl::spi::latches* latches() noexcept override { return exact_->latches(); }
    pawl::spi::capabilities capabilities() const noexcept override {
        auto all = exact_->capabilities();
        make_coarse(all);
        return all;
    }

private:
    [[nodiscard]] bool is_supported(pawl::duration ttl) const noexcept {
        const auto limits = capabilities();
        return ttl >= limits.least_ttl && ttl <= limits.most_ttl &&
               ttl % limits.ttl_granularity == pawl::duration{};
    }
    void refuse_unsupported(pawl::duration ttl) const {
        if (!is_supported(ttl))
            throw std::invalid_argument("a ttl of " + std::to_string(ttl.count()) + " ns");
    }

    const std::unique_ptr<pawl::spi::backend> exact_;
};

class coarse_definition final : public pawl::service::definition {
public:
    explicit coarse_definition(pawl::service exact) : exact_(std::move(exact)) {}
    std::unique_ptr<pawl::spi::backend> open(pawl::spi::backend_context context) const override {
        return std::make_unique<coarse_backend>(exact_.open(std::move(context)));
    }
    std::string describe() const override { return "coarse"; }

private:
    const pawl::service exact_;
};

}  // namespace

pawl::service coarse_service(const pawl::service& service) {
    return pawl::service(std::make_shared<coarse_definition>(service));
}

}  // namespace tested
