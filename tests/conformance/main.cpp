// Every promise on every backend, each as a test of its own.
#include "fixtures.hpp"

#include <pawl/backend.hpp>

#include <gtest/gtest.h>

namespace {

using pawl::conformance::promise;

class kept : public testing::Test {
public:
    kept(pawl::conformance::fixture& of, const promise& which) : of_(of), which_(which) {}

    void TestBody() override {
        try {
            which_.run(of_);
        } catch (const std::exception& how) {
            FAIL() << how.what();
        }
    }

private:
    pawl::conformance::fixture& of_;
    const promise& which_;
};

void register_all(const std::string& backend, pawl::conformance::fixture& of) {
    for (const promise& each : pawl::conformance::all_promises())
        if (each.asked_of(of.promised()))
            testing::RegisterTest(backend.c_str(), std::string(each.name).c_str(), nullptr, nullptr,
                                  __FILE__, __LINE__,
                                  [&of, &each]() -> testing::Test* { return new kept(of, each); });
}

}  // namespace

int main(int argc, char** argv) {
    if (const auto answer = pawl::conformance::helper_main(argc, argv, pawl::from_url))
        return *answer;
    testing::InitGoogleTest(&argc, argv);
    const auto backends = tested::all_backends();
    for (const auto& each : backends)
        register_all(each.name, *each.fixture);
    return RUN_ALL_TESTS();
}
