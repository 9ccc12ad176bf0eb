// The last sentence of a wait that ends while the service is away.
#include <pawl/backend.hpp>
#include <pawl/blocking.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Gives nothing to anybody, and says that it is away.
class away_backend final : public pawl::backend {
public:
    explicit away_backend(std::string why) : why_(std::move(why)) {}

    asio::awaitable<std::optional<pawl::grant>> acquire(const pawl::claim&,
                                                        pawl::time_point) override {
        co_return std::nullopt;
    }
    asio::awaitable<void> renew(std::span<pawl::renewal>) override { co_return; }
    asio::awaitable<pawl::release_result> release(const pawl::hold&) override {
        co_return pawl::release_result::unknown;
    }
    asio::awaitable<pawl::lock_info> inspect(std::string_view) override {
        co_return pawl::lock_info{};
    }
    asio::awaitable<std::vector<pawl::lock_info>> list(std::string_view) override {
        co_return std::vector<pawl::lock_info>{};
    }
    asio::awaitable<bool> force_release(std::string_view) override { co_return false; }
    asio::awaitable<pawl::examination> examine() override { co_return pawl::examination{}; }
    asio::awaitable<void> close(pawl::time_point) override { co_return; }
    std::string absence() const override { return why_; }
    pawl::promises promised() const noexcept override { return {}; }

private:
    const std::string why_;
};

class away_service final : public pawl::service::definition {
public:
    explicit away_service(std::string why) : why_(std::move(why)) {}
    std::unique_ptr<pawl::backend> open(pawl::backend_context) const override {
        return std::make_unique<away_backend>(why_);
    }
    std::string describe() const override { return "away"; }

private:
    const std::string why_;
};

std::string sentence_for(const std::string& why) {
    pawl::blocking::client locks(pawl::service(std::make_shared<away_service>(why)));
    try {
        (void)locks.acquire("it", {.ttl = 1s, .wait = 0s});
    } catch (const pawl::error& failed) {
        EXPECT_EQ(failed.reason(), pawl::errc::unreachable);
        return failed.what();
    }
    return "no error";
}

const std::string begins = "The lock 'it' was not acquired in time, and the service is away: ";

TEST(Absence, OfABrokenConnectionIsGivenAdvice) {
    EXPECT_EQ(sentence_for("redis://there: Connection refused"),
              begins +
                  "redis://there: Connection refused; check that it runs there and the URL is "
                  "right.");
}

TEST(Absence, ThatTheServiceItselfExplainsHasItsOwn) {
    const std::string said =
        "redis://there: the server says \"LOADING\"; the server is loading its data; try again "
        "soon.";
    EXPECT_EQ(sentence_for(said), begins + said);
}

}  // namespace
