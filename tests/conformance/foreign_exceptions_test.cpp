// What a system, or a backend, throws that is no error of Pawl's: both faces say the same of it.
#include <pawl/backend.hpp>
#include <pawl/blocking.hpp>
#include <pawl/client.hpp>

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

// Whatever it is asked, it throws.
class falling_backend final : public pawl::backend {
public:
    explicit falling_backend(thrower falls) : falls_(std::move(falls)) {}

    asio::awaitable<std::optional<pawl::grant>> acquire(const pawl::claim&,
                                                        pawl::time_point) override {
        falls_();
        co_return std::nullopt;
    }
    asio::awaitable<void> renew(std::span<pawl::renewal>) override { co_return; }
    asio::awaitable<pawl::release_result> release(const pawl::hold&) override {
        co_return pawl::release_result::unknown;
    }
    asio::awaitable<pawl::lock_info> inspect(std::string_view) override {
        falls_();
        co_return pawl::lock_info{};
    }
    asio::awaitable<std::vector<pawl::lock_info>> list(std::string_view) override {
        co_return std::vector<pawl::lock_info>{};
    }
    asio::awaitable<bool> force_release(std::string_view) override { co_return false; }
    asio::awaitable<pawl::examination> examine() override { co_return pawl::examination{}; }
    asio::awaitable<void> close(pawl::time_point) override { co_return; }
    pawl::promises promised() const noexcept override { return {}; }

private:
    const thrower falls_;
};

class falling_service final : public pawl::service::definition {
public:
    explicit falling_service(thrower falls) : falls_(std::move(falls)) {}
    std::unique_ptr<pawl::backend> open(pawl::backend_context) const override {
        return std::make_unique<falling_backend>(falls_);
    }
    std::string describe() const override { return "falling"; }

private:
    const thrower falls_;
};

struct fall {
    const char* name;
    void (*happens)();
    errc said_as;
};

const fall falls[] = {
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

class ForeignException : public testing::TestWithParam<fall> {
protected:
    pawl::service where{std::make_shared<falling_service>(GetParam().happens)};
};

TEST_P(ForeignException, IsAnErrorOfPawlsForWhoBlocks) {
    pawl::blocking::client locks(where);
    const auto reason_of = [](const std::function<void()>& asks) {
        try {
            asks();
        } catch (const pawl::error& failed) {
            return failed.reason();
        }
        return errc{};
    };
    EXPECT_EQ(reason_of([&] { (void)locks.inspect("it"); }), GetParam().said_as);
    EXPECT_EQ(reason_of([&] { (void)locks.acquire("it", {}); }), GetParam().said_as);
}

TEST_P(ForeignException, IsTheSameCodeForWhoDoesNot) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), where);
    boost::system::error_code said;
    locks.async_inspect(
        "it", [&](const boost::system::error_code& ec, const pawl::lock_info&) { said = ec; });
    loop.poll();
    EXPECT_EQ(said, boost::system::error_code(make_error_code(GetParam().said_as)));
}

INSTANTIATE_TEST_SUITE_P(Of, ForeignException, testing::ValuesIn(falls),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
