#include "operations.hpp"

#include "targets.hpp"

#include <json.hpp>
#include <lock_view.hpp>

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

operations::operations(std::unique_ptr<pawl::backend> of, const asio::any_io_executor& strand,
                       pawl::runtime& time, std::string letters)
    : of_(std::move(of)), time_(time), letters_(std::move(letters)) {
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
    co_await of_->close(time_.now());
    done_ = true;
}

asio::awaitable<void> operations::step(char letter) {
    switch (letter) {
    case 'i':
    case 'l':
    case 'e': co_await look(); break;
    case 't': co_await take(pawl::lock_mode::exclusive, 0s); break;
    case 'w': co_await take(pawl::lock_mode::exclusive, 3s); break;
    case 'r': co_await take(pawl::lock_mode::shared, 3s); break;
    case 'p': co_await take(pawl::lock_mode::permits, 3s); break;
    default: co_await change(letter);
    }
}

pawl::claim operations::claim(pawl::lock_mode mode) {
    pawl::claim asked;
    asked.name = "x";
    asked.owner = "0123456789abcdef0123456789abcd" + std::to_string(10 + ++claims_ % 90);
    asked.ttl = 10s;
    asked.mode = mode;
    asked.of = mode == pawl::lock_mode::permits ? 3 : 0;
    return asked;
}

asio::awaitable<void> operations::take(pawl::lock_mode mode, pawl::duration wait) {
    const auto asked = claim(mode);
    const auto given = co_await of_->acquire(asked, time_.now() + wait);
    if (given) held_ = pawl::hold{asked, *given};
}

asio::awaitable<void> operations::look() {
    auto locks = co_await of_->list("");
    locks.push_back(co_await of_->inspect("x"));
    show(locks);
    const auto found = co_await of_->examine();
    if (found.findings.empty()) fail("an examination without a finding");
}

asio::awaitable<void> operations::change(char letter) {
    if (letter == 'n') {
        std::array<pawl::renewal, 1> batch{};
        batch[0].what = &held_;
        batch[0].ttl = 10s;
        co_await of_->renew(batch);
    }
    if (letter == 'd') static_cast<void>(co_await of_->downgrade(held_));
    if (letter == 'g') static_cast<void>(co_await of_->release(held_));
    if (letter == 'f') static_cast<void>(co_await of_->force_release("x"));
    if (letter == 'z') co_await of_->resize("x", 5);
    if (letter == 'a') {
        auto asked = claim(pawl::lock_mode::exclusive);
        asked.value = "value";
        static_cast<void>(co_await of_->adopt(asked));
    }
    if (letter == 's') {
        const std::array<pawl::claim, 1> all{claim(pawl::lock_mode::exclusive)};
        static_cast<void>(co_await of_->acquire_several(all, time_.now()));
    }
}

}  // namespace fuzz
