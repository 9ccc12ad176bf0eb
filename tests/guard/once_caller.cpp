// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_caller.hpp"

#include <pawl/guard/async_once.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

namespace guard_tests {
namespace {

class sync_caller final : public once_caller {
public:
    explicit sync_caller(test_database& database) : opened_(database.connect()) {}

    guard::once_result once(const guard::once_key& operation, const guard::once_options& options,
                            const guard::once_work& work) override {
        return guard::once(view(), operation, options, work);
    }
    guard::once_result at_least_once(const guard::once_key& operation,
                                     const guard::once_options& options,
                                     const guard::once_work& work) override {
        return guard::at_least_once(view(), operation, options, work);
    }
    guard::once_claim claim(const guard::once_key& operation,
                            const guard::once_options& options) override {
        return guard::claim(view(), operation, options);
    }
    bool finish(const guard::attempt& claimed, const guard::outcome& result,
                const guard::once_options& options) override {
        return guard::finish(view(), claimed, result, options);
    }
    bool give_up(const guard::attempt& claimed, pawl::duration pause) override {
        return guard::give_up(view(), claimed, pause);
    }
    guard::connection& view() override { return opened_->view(); }

private:
    std::unique_ptr<open_connection> opened_;
};

asio::awaitable<guard::outcome> call(const guard::once_work& work, const guard::attempt& claimed) {
    co_return work(claimed);
}

class async_caller final : public once_caller {
public:
    explicit async_caller(test_database& database)
        : opened_(database.connect(loop_.get_executor())) {}

    guard::once_result once(const guard::once_key& operation, const guard::once_options& options,
                            const guard::once_work& work) override {
        const guard::async_once_work async_work = with_coroutine(work);
        return wait(guard::async_once(opened_->view(), operation, options, async_work));
    }
    guard::once_result at_least_once(const guard::once_key& operation,
                                     const guard::once_options& options,
                                     const guard::once_work& work) override {
        const guard::async_once_work async_work = with_coroutine(work);
        return wait(guard::async_at_least_once(opened_->view(), operation, options, async_work));
    }
    guard::once_claim claim(const guard::once_key& operation,
                            const guard::once_options& options) override {
        return wait(guard::async_claim(opened_->view(), operation, options));
    }
    bool finish(const guard::attempt& claimed, const guard::outcome& result,
                const guard::once_options& options) override {
        return wait(guard::async_finish(opened_->view(), claimed, result, options));
    }
    bool give_up(const guard::attempt& claimed, pawl::duration pause) override {
        return wait(guard::async_give_up(opened_->view(), claimed, pause));
    }
    guard::connection& view() override { return opened_->blocking_view(); }

private:
    static guard::async_once_work with_coroutine(const guard::once_work& work) {
        return [&work](const guard::attempt& claimed) { return call(work, claimed); };
    }
    template <class Result>
    Result wait(asio::awaitable<Result> operation) {
        auto ended = asio::co_spawn(loop_, std::move(operation), asio::use_future);
        loop_.restart();
        loop_.run();
        return ended.get();
    }

    asio::io_context loop_;
    std::unique_ptr<open_async_connection> opened_;
};

}  // namespace

std::unique_ptr<once_caller> make_caller(test_database& database, api chosen_api) {
    if (chosen_api == api::sync) return std::make_unique<sync_caller>(database);
    return std::make_unique<async_caller>(database);
}

}  // namespace guard_tests
