// The ACL lines of docs/redisson.md, as they stand there, on a server.
#include "rights.hpp"

#include <memory>
#include <stdexcept>

namespace {

using namespace chaos;
using pawl::lock_mode;

class JavaRights : public testing::Test, protected least_rights {
protected:
    explicit JavaRights(support::redis_plan plan = {.config = {"appendonly yes"}})
        : least_rights("redisson.md", std::move(plan)) {}

    const std::string layout = "?layout=redisson";
    const std::string readwrite = layout + "&object=readwrite";
    const std::string counting = layout + "&object=semaphore";

    // Those who wait are seen by who may look.
    std::function<bool()> waits(std::uint64_t count = 1) {
        if (!eyes_) eyes_.emplace(direct(layout));
        return seen_waiting(*eyes_, count);
    }
    // Two wait, one behind the other.
    void in_order(client& one, client& two) {
        const pawl::lock_options fair{.ttl = long_ttl, .wait = patience, .fair = true};
        auto lock = one.acquire("it", fair);
        const auto next = [&](client& by) { (void)by.acquire("it", fair).release(); };
        beside second([&] { next(two); });
        EXPECT_TRUE(eventually(waits()));
        beside third([&] { next(one); });
        EXPECT_TRUE(eventually(waits(2)));
        EXPECT_EQ(lock.release(), release_result::released);
    }
    void share(const std::function<bool()>& waiting) {
        client one = user(readwrite), two = user(readwrite);
        pass_on(one, two, {}, waiting);
        give_up(one, two, {});
        auto writer = one.acquire("it", {.ttl = long_ttl});
        writer.downgrade();
        auto reader = two.acquire("it", {.ttl = long_ttl, .mode = lock_mode::shared});
        writer.renew();
        reader.renew();
        EXPECT_EQ(writer.release(), release_result::released);
        EXPECT_EQ(reader.release(), release_result::released);
    }
    void lend(const std::function<bool()>& waiting) {
        constexpr pawl::lock_options two_of_three{
            .mode = lock_mode::permits, .permits = 2, .of = 3};
        for (const auto& options : {layout, counting}) {
            client one = user(options), two = user(options);
            pass_on(one, two, two_of_three, waiting);
            give_up(one, two, two_of_three);
        }
        user(layout).resize("it", 5);
        (void)server.ask({"DEL", "it"});
    }
    void look_at_each() {
        client one = user(layout), two = user(readwrite), three = user(counting);
        look_around(one);
        const pawl::lock_options some{.ttl = long_ttl, .mode = lock_mode::permits, .of = 3};
        auto lock = one.acquire("a/lock", {.ttl = long_ttl});
        auto reader = two.acquire("a/reader", {.ttl = long_ttl, .mode = lock_mode::shared});
        auto lent = one.acquire("a/lent", some);
        auto free = three.acquire("a/free", some);
        EXPECT_EQ(three.list("a/").size(), 4U);
        for (const std::string name : {"a/lock", "a/reader", "a/lent"})
            EXPECT_TRUE(one.force_release(name)) << name;
    }

private:
    std::optional<client> eyes_;
};

TEST_F(JavaRights, OfAllLinesLetDoEverything) {
    allow_all(also("+decrby"));
    client one = user(layout), two = user(layout);
    pass_on(one, two, {}, seen_waiting(one));
    give_up(one, two, {});
    pass_on(one, two, {.fair = true}, seen_waiting(one));
    give_up(one, two, {.fair = true});
    in_order(one, two);
    share(seen_waiting(one));
    lend(seen_waiting(one));
    count_down(one, two, one);
    lead(one, two);
    look_at_each();
    expect_nothing_refused();
    EXPECT_EQ(in_vain(), std::vector<std::string>{});
}

TEST_F(JavaRights, OfTheFirstLinesAreEnoughForLocks) {
    allow({1, 2, 3});
    client one = user(layout), two = user(layout);
    pass_on(one, two, {}, waits());
    pass_on(one, two, {.fenced = false}, waits());
    give_up(one, two, {});
    expect_nothing_refused();
}

TEST_F(JavaRights, OfTheFirstLinesAreEnoughForLatchesWithWhatTheSentenceAdds) {
    allow({1, 2, 3}, also("+decrby"));
    client one = user(layout), two = user(layout), eyes = direct(layout);
    count_down(one, two, eyes);
    expect_nothing_refused();
}

TEST_F(JavaRights, OfEachObjectsLineAreEnoughForIt) {
    allow({1, 2, 3, 4});
    {
        client one = user(layout), two = user(layout);
        pass_on(one, two, {.fair = true}, waits());
        give_up(one, two, {.fair = true});
        in_order(one, two);
    }
    expect_nothing_refused();
    allow({1, 2, 3, 5});
    share(waits());
    expect_nothing_refused();
    allow({1, 2, 3, 6});
    lend(waits());
    expect_nothing_refused();
    allow({1, 2, 3, 7});
    {
        client locks = user(layout);
        look_around(locks);
    }
    expect_nothing_refused();
}

class ClusterRights : public JavaRights {
protected:
    ClusterRights() : JavaRights({.config = {"cluster-enabled yes"}}) {
        (void)server.ask({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
        const auto ready = [&] {
            return server.ask({"CLUSTER", "INFO"}).text.find("state:ok") != std::string::npos;
        };
        if (!eventually(ready)) throw std::runtime_error("the cluster does not begin");
    }
};

TEST_F(ClusterRights, AreThoseOfTheSentenceBesides) {
    allow({1, 2, 3, 7}, also("+ssubscribe"));
    client one = user(layout), two = user(layout);
    pass_on(one, two, {}, seen_waiting(one));
    give_up(one, two, {});
    expect_nothing_refused();
}

}  // namespace
