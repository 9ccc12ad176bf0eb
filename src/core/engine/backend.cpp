// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../util/spi.hpp"

#include <pawl/error.hpp>
#include <pawl/service.hpp>

namespace asio = boost::asio;

namespace pawl {
namespace {

[[noreturn]] void throw_unsupported(const char* action) {
    throw error(errc::unsupported, std::string("This service cannot ") + action +
                                       "; see the table in docs/guide/guarantees.md.");
}

}  // namespace

void renewal_batch::settle(std::size_t index, renewal::outcome result,
                           time_point deadline) noexcept {
    auto& settled = renewals_[index];
    if (std::exchange(settled.is_settled, true)) return;
    settled.result = result;
    settled.deadline = deadline;
    on_settled(index);
}

asio::awaitable<std::optional<grant>> backend::downgrade([[maybe_unused]] const hold& hold) {
    throw_unsupported("downgrade a lock");
    co_return std::nullopt;
}

asio::awaitable<std::optional<grant>> backend::adopt([[maybe_unused]] const claim& claim) {
    throw_unsupported("adopt a lock");
    co_return std::nullopt;
}

asio::awaitable<std::vector<grant>> backend::acquire_batch(
    [[maybe_unused]] std::span<const claim> claims, [[maybe_unused]] time_point give_up_at) {
    throw_unsupported("acquire several locks in one request");
    co_return std::vector<grant>{};
}

asio::awaitable<void> backend::confirm_durability(
    [[maybe_unused]] std::span<const hold* const> holds, [[maybe_unused]] durability wanted,
    [[maybe_unused]] time_point give_up_at) {
    throw_unsupported("wait until a lock is durable");
    co_return;
}

asio::awaitable<void> backend::resize([[maybe_unused]] std::string_view name,
                                      [[maybe_unused]] std::uint32_t permits) {
    throw_unsupported("store the total of a semaphore");
    co_return;
}

std::unique_ptr<backend> service::open(backend_context context) const {
    return definition_->open(std::move(context));
}

}  // namespace pawl
