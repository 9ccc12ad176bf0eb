// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A fixture of the conformance suite from a function that makes services.
#pragma once

#include <pawl/spi/backend.hpp>
#include <pawl/spi/conformance.hpp>

#include <functional>
#include <string_view>
#include <utility>

namespace tested {

// What the services of a fixture cannot do, beside what their capabilities say.
struct service_limits {
    bool shows_waiters = true;
    bool lists_locks = true;
    bool (*accepts_name)(std::string_view name) = nullptr;  // null: all of them
    int most_holds = 1000;
    unsigned servers_per_request = 1;
};

class service_fixture final : public pawl::conformance::fixture {
public:
    service_fixture(std::function<pawl::conformance::test_service()> make,
                    const pawl::spi::capabilities& supported, const service_limits& limits = {})
        : make_(std::move(make)), supported_(supported), limits_(limits) {}

    pawl::conformance::test_service make_test_service() override { return make_(); }
    const pawl::spi::capabilities& capabilities() const override { return supported_; }
    bool shows_waiters() const override { return limits_.shows_waiters; }
    bool lists_locks() const override { return limits_.lists_locks; }
    bool accepts_name(std::string_view name) const override {
        return limits_.accepts_name == nullptr || limits_.accepts_name(name);
    }
    int most_holds() const override { return limits_.most_holds; }
    unsigned servers_per_request() const override { return limits_.servers_per_request; }

private:
    const std::function<pawl::conformance::test_service()> make_;
    const pawl::spi::capabilities supported_;
    const service_limits limits_;
};

// Of the names in the suite.
[[nodiscard]] inline bool is_utf8(std::string_view name) {
    return name == "ä" || name.find_first_of("\xC3\xFF") == std::string_view::npos;
}

}  // namespace tested
