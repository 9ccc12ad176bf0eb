// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "backend_contract.hpp"

#include <pawl/memory.hpp>

namespace backend_tests {
namespace {

class memory_environment {
public:
    [[nodiscard]] const pawl::service& service() const noexcept { return service_; }

private:
    pawl::service service_ = pawl::memory::at();
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, BackendContract, memory_environment);

TEST(Memory, ServicesAreApartUnlessTheyShareAName) {
    backend_runner holder(pawl::memory::at()), other(pawl::memory::at());
    backend_runner red(pawl::memory::at({.name = "red"})),
        red_too(pawl::memory::at({.name = "red"}));
    backend_runner blue(pawl::memory::at({.name = "blue"}));
    EXPECT_TRUE(holder.acquire(make_claim("it")));
    EXPECT_TRUE(other.acquire(make_claim("it")));
    EXPECT_TRUE(red.acquire(make_claim("it")));
    EXPECT_FALSE(red_too.acquire(make_claim("it")));
    EXPECT_TRUE(blue.acquire(make_claim("it")));
    EXPECT_EQ(pawl::memory::at({.name = "red"}).describe(), "memory:red");
    EXPECT_EQ(pawl::memory::at().describe(), "memory:");
}

TEST(Memory, PromisesNoMoreThanAProcessCan) {
    backend_runner holder(pawl::memory::at());
    EXPECT_TRUE(holder.capabilities().fencing);
    EXPECT_TRUE(holder.capabilities().loss_is_pushed);
    EXPECT_FALSE(holder.capabilities().tokens_survive_data_loss);
    EXPECT_FALSE(holder.capabilities().across_processes);
    EXPECT_FALSE(holder.capabilities().across_hosts);
    EXPECT_EQ(holder.examine().guarantees.backend, "memory");
}

}  // namespace
}  // namespace backend_tests
