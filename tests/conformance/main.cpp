// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Every conformance test on every backend, each as its own test.
#include "fixtures.hpp"

#include <pawl/spi/backend.hpp>

#include <gtest/gtest.h>

namespace {

using pawl::conformance::test_case;

class promise_test : public testing::Test {
public:
    promise_test(pawl::conformance::fixture& service_fixture, const test_case& promise_checked)
        : fixture_(service_fixture), promise_(promise_checked) {}

    void TestBody() override {
        try {
            promise_.run(fixture_);
        } catch (const std::exception& thrown) {
            FAIL() << thrown.what();
        }
    }

private:
    pawl::conformance::fixture& fixture_;
    const test_case& promise_;
};

void register_all(const std::string& backend, pawl::conformance::fixture& service_fixture) {
    for (const test_case& each : pawl::conformance::all_test_cases())
        if (each.applies_to(service_fixture.capabilities()))
            testing::RegisterTest(backend.c_str(), std::string(each.name).c_str(), nullptr, nullptr,
                                  __FILE__, __LINE__,
                                  [&service_fixture, &each]() -> testing::Test* {
                                      return new promise_test(service_fixture, each);
                                  });
}

}  // namespace

int main(int argc, char** argv) {
    if (const auto helper_status = pawl::conformance::helper_main(argc, argv, pawl::from_url))
        return *helper_status;
    testing::InitGoogleTest(&argc, argv);
    auto backends = tested::all_backends();
    for (auto& each : tested::limited_backends())
        backends.push_back(std::move(each));
    for (const auto& each : backends)
        register_all(each.name, *each.fixture);
    return RUN_ALL_TESTS();
}
