// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The code of docs/contributing/writing-a-backend.md. It is compiled and not linked: a backend of
// your own defines what is declared here.
#include <pawl/service.hpp>
#include <pawl/spi/backend.hpp>
#include <pawl/spi/conformance.hpp>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using boost::asio::awaitable;
using namespace pawl;
using namespace pawl::spi;

struct options {
    std::string path;
};

class my_locks final : public pawl::spi::backend {
public:
    my_locks(options settings, pawl::spi::backend_context context);

    awaitable<std::optional<grant>> acquire(const claim& claim, time_point give_up_at) override;
    awaitable<void> renew(renewal_batch& batch) override;
    awaitable<release_result> release(const hold& hold) override;
    awaitable<lock_info> inspect(std::string_view name) override;
    awaitable<std::vector<lock_info>> list(std::string_view prefix) override;
    awaitable<bool> force_release(std::string_view name, fencing_token expected) override;
    awaitable<std::optional<grant>> downgrade(const hold& hold) override;           // optional
    awaitable<void> resize(std::string_view name, std::uint32_t permits) override;  // optional
    awaitable<examination> examine() override;
    awaitable<void> close(time_point give_up_at) override;
    pawl::spi::latches* latches() noexcept override;  // optional
    pawl::spi::capabilities capabilities() const noexcept override;
    std::string capability_hint(lock_mode mode, bool fair) const override;  // optional
};

class my_definition final : public pawl::service::definition {
public:
    explicit my_definition(options settings);
    std::unique_ptr<pawl::spi::backend> open(pawl::spi::backend_context context) const override;
    std::string describe() const override;  // without user and password
};

pawl::service my_service(options settings) {
    return pawl::service(std::make_shared<my_definition>(std::move(settings)));
}

pawl::service my_from_url(std::string_view url) { return my_service({std::string(url)}); }

class my_fixture final : public pawl::conformance::fixture {
public:
    pawl::conformance::test_service make_test_service() override;
    const pawl::spi::capabilities& capabilities() const override;
};

int main(int argc, char** argv) {
    // Some tests kill a process: the program then starts itself again as that process.
    if (const auto status = pawl::conformance::helper_main(argc, argv, my_from_url)) return *status;

    my_fixture fixture;
    return pawl::conformance::run_and_print(fixture, std::cout);
}
