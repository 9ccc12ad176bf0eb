#include "backend_promises.hpp"

#include <pawl/memory.hpp>

namespace backend_tests {
namespace {

class memory_world {
public:
    [[nodiscard]] const pawl::service& service() const noexcept { return service_; }

private:
    pawl::service service_ = pawl::memory::make();
};

INSTANTIATE_TYPED_TEST_SUITE_P(memory, backend_promises, memory_world);

TEST(memory, worlds_are_apart_unless_they_share_a_name) {
    client one(pawl::memory::make()), two(pawl::memory::make());
    client red(pawl::memory::named("red")), red_too(pawl::memory::named("red"));
    client blue(pawl::memory::named("blue"));
    EXPECT_TRUE(one.acquire(ask("it")));
    EXPECT_TRUE(two.acquire(ask("it")));
    EXPECT_TRUE(red.acquire(ask("it")));
    EXPECT_FALSE(red_too.acquire(ask("it")));
    EXPECT_TRUE(blue.acquire(ask("it")));
    EXPECT_EQ(pawl::memory::named("red").describe(), "memory:red");
    EXPECT_EQ(pawl::memory::make().describe(), "memory:");
}

TEST(memory, promises_no_more_than_a_process_can) {
    client one(pawl::memory::make());
    EXPECT_TRUE(one.promised().fencing);
    EXPECT_TRUE(one.promised().loss_is_pushed);
    EXPECT_FALSE(one.promised().survives_restart);
    EXPECT_FALSE(one.promised().across_processes);
    EXPECT_FALSE(one.promised().across_hosts);
    EXPECT_EQ(one.examine().guarantees.backend, "memory");
}

}  // namespace
}  // namespace backend_tests
