// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Exceptions of the system or of a backend that are not Pawl's: the sync and the async API report
// the same.
#include <pawl/blocking.hpp>
#include <pawl/client.hpp>
#include <pawl/spi/backend.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>
#include <string>

namespace {

namespace asio = boost::asio;
using pawl::errc;

using thrower = std::function<void()>;

// `acquire` and `inspect` throw.
class throwing_backend final : public pawl::spi::backend {
public:
    explicit throwing_backend(thrower throws) : throws_(std::move(throws)) {}

    asio::awaitable<std::optional<pawl::spi::grant>> acquire(const pawl::spi::claim&,
                                                             pawl::time_point) override {
        throws_();
        co_return std::nullopt;
    }
    asio::awaitable<void> renew(pawl::spi::renewal_batch&) override { co_return; }
    asio::awaitable<pawl::release_result> release(const pawl::spi::hold&) override {
        co_return pawl::release_result::unknown;
    }
    asio::awaitable<pawl::lock_info> inspect(std::string_view) override {
        throws_();
        co_return pawl::lock_info{};
    }
    asio::awaitable<std::vector<pawl::lock_info>> list(std::string_view) override {
        co_return std::vector<pawl::lock_info>{};
    }
    asio::awaitable<bool> force_release(std::string_view, pawl::fencing_token) override {
        co_return false;
    }
    asio::awaitable<pawl::examination> examine() override { co_return pawl::examination{}; }
    asio::awaitable<void> close(pawl::time_point) override { co_return; }
    pawl::spi::capabilities capabilities() const noexcept override { return {}; }

private:
    const thrower throws_;
};

class throwing_service final : public pawl::service::definition {
public:
    explicit throwing_service(thrower throws) : throws_(std::move(throws)) {}
    std::unique_ptr<pawl::spi::backend> open(pawl::spi::backend_context) const override {
        return std::make_unique<throwing_backend>(throws_);
    }
    std::string describe() const override { return "falling"; }

private:
    const thrower throws_;
};

struct exception_case {
    const char* name;
    void (*throw_it)();
    errc reported_as;
};

const exception_case cases[] = {
    {"Boosts",
     [] { throw boost::system::system_error(asio::error::no_descriptors, "no descriptors"); },
     errc::exhausted},
    {"TheStandards",
     [] {
         throw std::system_error(std::make_error_code(std::errc::too_many_files_open), "no files");
     },
     errc::exhausted},
    {"OfNoMemory", [] { throw std::bad_alloc(); }, errc::exhausted},
    {"Another", [] { throw std::runtime_error("it fell over"); }, errc::protocol},
    {"NoException", [] { throw 7; }, errc::protocol},
};

class ForeignException : public testing::TestWithParam<exception_case> {
protected:
    pawl::service tested_service{std::make_shared<throwing_service>(GetParam().throw_it)};
};

TEST_P(ForeignException, IsAnErrorOfPawlsForWhoBlocks) {
    pawl::blocking::client locks(tested_service);
    const auto reason_of = [](const std::function<void()>& call) {
        try {
            call();
        } catch (const pawl::error& failed) {
            return failed.reason();
        }
        return errc{};
    };
    EXPECT_EQ(reason_of([&] { (void)locks.inspect("it"); }), GetParam().reported_as);
    EXPECT_EQ(reason_of([&] { (void)locks.acquire("it", {}); }), GetParam().reported_as);
}

TEST_P(ForeignException, IsTheSameCodeForWhoDoesNot) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), tested_service);
    boost::system::error_code result_code;
    locks.async_inspect("it", [&](const boost::system::error_code& ec, const pawl::lock_info&) {
        result_code = ec;
    });
    loop.poll();
    EXPECT_EQ(result_code, boost::system::error_code(make_error_code(GetParam().reported_as)));
}

INSTANTIATE_TEST_SUITE_P(Of, ForeignException, testing::ValuesIn(cases),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
