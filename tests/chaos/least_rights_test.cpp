// The ACL lines of docs/redis.md, as they stand there, on a server.
#include "rights.hpp"

#include <pawl/blocking_latch.hpp>

namespace {

using namespace chaos;
using pawl::lock_mode;

class NativeRights : public testing::Test, protected least_rights {
protected:
    // `pawl doctor` asks more of a server that keeps a log.
    NativeRights() : least_rights("redis.md", {.config = {"appendonly yes"}}) {}

    void take_alone(client& one, client& two, const std::function<bool()>& waits) {
        pass_on(one, two, {}, waits);
        pass_on(one, two, {.fenced = false}, waits);
        give_up(one, two, {});
        auto several = one.acquire_all({"a", "b"}, {.ttl = long_ttl});
        auto named = one.acquire_as("c", "by-name", {.ttl = long_ttl});
        EXPECT_TRUE(two.adopt("c", "by-name", {.ttl = long_ttl}).owns_lock());
    }
    // For who may not look.
    std::function<bool()> in_line() {
        return [this] { return waiters("it") == 1; };
    }
    void take_beside(client& one, client& two) {
        pass_on(one, two, {.fair = true}, seen_waiting(one));
        pass_on(one, two, {.mode = lock_mode::permits, .permits = 2, .of = 3}, seen_waiting(one));
        give_up(one, two, {.mode = lock_mode::permits, .permits = 2});
        auto writer = one.acquire("it", {.ttl = long_ttl, .wait = patience});
        held_lock reader;
        beside waiting([&] {
            reader =
                two.acquire("it", {.ttl = long_ttl, .wait = patience, .mode = lock_mode::shared});
        });
        EXPECT_TRUE(eventually(seen_waiting(one)));
        writer.downgrade();
        waiting.join();
        writer.renew();
        EXPECT_TRUE(one.force_release("it"));
        one.resize("it", 5);
        lead(one, two);
    }
    // Releases of another library are told by the server.
    void share_with_others() {
        client one = user("?key=%7Bname%7D");
        (void)server.ask({"SET", "it", "theirs", "PX", "60000"});
        held_lock got;
        beside waiting([&] { got = one.acquire("it", {.ttl = long_ttl, .wait = patience}); });
        EXPECT_TRUE(eventually(seen_waiting(one)));
        (void)server.ask({"DEL", "it"});
        waiting.join();
        EXPECT_TRUE(got.owns_lock());
    }
    void turn(client& one, client& two) {
        pawl::blocking::barrier mine(one, "turn", 2), other(two, "turn", 2);
        beside waiting([&] { other.arrive_and_wait(); });
        mine.arrive_and_wait();
    }
};

TEST_F(NativeRights, OfAllLinesLetDoEverything) {
    allow_all({"~it", "~pawl:x:*"});
    client one = user(), two = user();
    take_beside(one, two);
    take_alone(one, two, seen_waiting(one));
    count_down(one, two, one);
    turn(one, two);
    look_around(one);
    (void)server.ask({"HSET", "pawl:{other}", "a", "b"});
    const auto what = failure_of([&] { (void)one.try_acquire("other"); });
    ASSERT_TRUE(what.has_value());
    EXPECT_NE(what->sentence.find("holds a hash"), std::string::npos) << what;
    share_with_others();
    expect_nothing_refused();
    EXPECT_EQ(in_vain(), std::vector<std::string>{});
}

TEST_F(NativeRights, OfTheFirstLinesAreEnoughForExclusiveLocks) {
    allow({1, 2, 3}, {"resetchannels", "&pawl:c:*"});
    client one = user(), two = user();
    take_alone(one, two, in_line());
    expect_nothing_refused();
}

TEST_F(NativeRights, OfTheNextLineAreEnoughForTheOtherModes) {
    allow({1, 2, 3, 4}, {"resetchannels", "&pawl:c:*"});
    client one = user(), two = user();
    take_alone(one, two, in_line());
    take_beside(one, two);
    expect_nothing_refused();
}

TEST_F(NativeRights, OfTheNextLineAreEnoughForLatches) {
    allow({1, 2, 3, 4, 5});
    client one = user(), two = user();
    count_down(one, two, one);
    turn(one, two);
    expect_nothing_refused();
}

}  // namespace
