// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "operations.hpp"

#include "targets.hpp"

#include <ui/json.hpp>
#include <ui/lock_view.hpp>

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/system/system_error.hpp>

#include <array>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace fuzz {

namespace {

// As `pawl ls`, `status` and `watch` show it.
void show(const std::vector<pawl::lock_info>& locks) {
    namespace cli = pawl::cli;
    cli::json text;
    text.begin_array();
    for (const auto& each : locks)
        cli::write(text, each);
    text.end_array();
    const auto table = cli::lock_table(locks, cli::remaining_cell);
    if (table.text(80, true).empty() && !locks.empty()) fail("locks that are not shown");
}

}  // namespace

operations::operations(std::unique_ptr<pawl::spi::backend> tested_backend,
                       const asio::any_io_executor& strand, pawl::spi::runtime& time,
                       std::string letters)
    : backend_(std::move(tested_backend)), time_(time), letters_(std::move(letters)) {
    asio::co_spawn(strand, run(), asio::detached);
}

asio::awaitable<void> operations::run() {
    for (const char letter : letters_) {
        try {
            co_await step(letter);
        } catch (const pawl::error& refused) {
            if (std::string_view(refused.what()).empty()) fail("a refusal without a word");
        }
    }
    co_await backend_->close(time_.now());
    is_done_ = true;
}

asio::awaitable<void> operations::step(char letter) {
    switch (letter) {
    case 'i':
    case 'l':
    case 'e': co_await inspect_all(); break;
    case 't': co_await acquire(pawl::lock_mode::exclusive, 0s); break;
    case 'w': co_await acquire(pawl::lock_mode::exclusive, 3s); break;
    case 'r': co_await acquire(pawl::lock_mode::shared, 3s); break;
    case 'p': co_await acquire(pawl::lock_mode::permits, 3s); break;
    default: co_await change_hold(letter);
    }
}

pawl::spi::claim operations::claim(pawl::lock_mode mode) {
    pawl::spi::claim requested;
    requested.name = "x";
    requested.owner = "0123456789abcdef0123456789abcd" + std::to_string(10 + ++claims_ % 90);
    requested.ttl = 10s;
    requested.mode = mode;
    requested.total_permits = mode == pawl::lock_mode::permits ? 3 : 0;
    return requested;
}

asio::awaitable<void> operations::acquire(pawl::lock_mode mode, pawl::duration wait) {
    const auto requested = claim(mode);
    const auto given = co_await backend_->acquire(requested, time_.now() + wait);
    if (given) held_ = pawl::spi::hold{requested, *given};
}

asio::awaitable<void> operations::inspect_all() {
    auto locks = co_await backend_->list("");
    locks.push_back(co_await backend_->inspect("x"));
    show(locks);
    const auto report = co_await backend_->examine();
    if (report.findings.empty()) fail("an examination without a finding");
}

asio::awaitable<void> operations::change_hold(char letter) {
    if (letter == 'n') {
        std::vector<pawl::spi::renewal> renewals(1);
        renewals[0].held = &held_;
        renewals[0].ttl = 10s;
        pawl::spi::renewal_batch batch(std::move(renewals));
        co_await backend_->renew(batch);
    }
    if (letter == 'd') static_cast<void>(co_await backend_->downgrade(held_));
    if (letter == 'g') static_cast<void>(co_await backend_->release(held_));
    if (letter == 'f') static_cast<void>(co_await backend_->force_release("x", {}));
    if (letter == 'z') co_await backend_->resize("x", 5);
    if (letter == 'a') {
        auto requested = claim(pawl::lock_mode::exclusive);
        requested.value = "value";
        static_cast<void>(co_await backend_->adopt(requested));
    }
    if (letter == 's') {
        const std::array<pawl::spi::claim, 1> all{claim(pawl::lock_mode::exclusive)};
        static_cast<void>(co_await backend_->acquire_batch(all, time_.now()));
    }
}

}  // namespace fuzz
