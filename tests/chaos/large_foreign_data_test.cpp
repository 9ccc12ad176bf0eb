// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Another program's large data under the keys that a display reads. No reply may be larger than the
// client accepts, since that would end the connection over which holds are renewed.
#include "redis_fixture.hpp"

#include <support/redlock_group.hpp>

#include <pawl/blocking/latch.hpp>

#include <set>
#include <sstream>

namespace {

using namespace chaos;

constexpr std::size_t beyond_every_limit = 5'000'000;

class LargeForeignData : public testing::Test, protected redis_fixture {
protected:
    void fill(const std::string& key) {
        ASSERT_EQ(server.execute({"SET", key, std::string(beyond_every_limit, 'x')}).text, "OK");
    }
    // In a script, since a hash of a million fields needs many commands.
    void run(const std::string& script) {
        const auto reply = server.execute({"EVAL", script, "0"});
        ASSERT_FALSE(reply.is_error()) << reply.text;
    }
    // A connection over which holds are renewed is subscribed to the client's channel.
    std::set<std::string> ids_of_subscribers() {
        std::istringstream lines(server.execute({"CLIENT", "LIST"}).text);
        std::set<std::string> ids;
        for (std::string line; std::getline(lines, line);)
            if (line.find(" sub=0 ") == std::string::npos)
                ids.insert(line.substr(0, line.find(' ')));
        return ids;
    }
    static std::vector<std::string> names_in(client& locks) {
        std::vector<std::string> names;
        for (const auto& each : locks.list())
            names.push_back(each.name);
        return names;
    }
};

//   C holds a lock and shows all | another program's string of 5 MB is under a key that may be a
//   lock | the list has both, and C's connection lives
TEST_F(LargeForeignData, AStringIsListedAndCostsNoConnection) {
    for (const std::string& suffix : {std::string("?key={name}"), std::string("?key=app:{name}")}) {
        client locks = direct_client(suffix);
        const auto lock = locks.acquire("mine", {.ttl = long_ttl, .wait = patience});
        (void)locks.inspect("mine");
        (void)names_in(locks);  // over a connection of its own
        const auto connections = locks.statistics().connections;
        fill("app:big");
        fill("big");
        const std::string name = suffix.find("app") == std::string::npos ? "app:big" : "big";
        EXPECT_EQ(std::ranges::count(names_in(locks), name), 1) << suffix;
        EXPECT_EQ(std::ranges::count(names_in(locks), "mine"), 1) << suffix;
        EXPECT_TRUE(locks.inspect(name).held_by.has_value());
        EXPECT_EQ(locks.statistics().connections, connections) << client_log.text();
        EXPECT_EQ(lock.state(), lock_state::held);
    }
}

// The lock's own keys have texts of 5 MB where Pawl keeps a few bytes.
TEST_F(LargeForeignData, CountersAndDetailsAreCut) {
    client locks = direct_client();
    const auto lock = locks.acquire("it", {.ttl = long_ttl, .mode = pawl::lock_mode::shared});
    const auto before = locks.inspect("it");
    fill("pawl:{it}:f");
    run("redis.call('HSET', 'pawl:{it}:d', 'n', string.rep('9', 5000000)) "
        "for i = 1, 200 do redis.call('ZADD', 'pawl:{it}:h', '9e15', string.rep('f', 30000) .. i) "
        "end");
    const auto connections = locks.statistics().connections;
    const auto after = locks.inspect("it");
    ASSERT_TRUE(before.held_by && after.held_by);
    EXPECT_EQ(after.held_by->owner, before.held_by->owner);
    EXPECT_EQ(locks.statistics().connections, connections) << client_log.text();
}

TEST_F(LargeForeignData, AHashOfManyFieldsIsShownInPart) {
    client locks = direct_client("?layout=redisson");
    const auto lock = locks.acquire("mine", {.ttl = long_ttl});
    run("for i = 1, 300 do local fields = {} for j = 1, 1000 do "
        "fields[2 * j - 1] = '0a-1b-2c-3d-4e:' .. (1000 * i + j) .. string.rep('x', 20) "
        "fields[2 * j] = '1' end redis.call('HSET', 'many', unpack(fields)) end");
    (void)locks.inspect("mine");
    (void)names_in(locks);
    const auto connections = locks.statistics().connections;
    EXPECT_EQ(locks.inspect("many").others.size(), 4095U);
    EXPECT_EQ(std::ranges::count(names_in(locks), "mine"), 1);
    EXPECT_EQ(locks.statistics().connections, connections) << client_log.text();
}

TEST_F(LargeForeignData, AStringInPlaceOfJavasLatchIsCut) {
    client locks = direct_client("?layout=redisson");
    const auto lock = locks.acquire("mine", {.ttl = long_ttl});
    pawl::blocking::latch done(locks, "big");
    fill("big");
    const auto connections = locks.statistics().connections;
    EXPECT_EQ(done.inspect().count, 0U);
    EXPECT_EQ(locks.statistics().connections, connections) << client_log.text();
}

//   C holds a lock and lists all | the names of another program's keys do not fit into one reply |
//   C sees its lock, and its hold keeps its connection
TEST_F(LargeForeignData, NamesThatAreTooLongEndNoHoldsConnection) {
    client locks = direct_client("?key={name}");
    const auto lock = locks.acquire("mine", {.ttl = long_ttl, .wait = patience});
    const auto connection = ids_of_subscribers();
    run("for i = 1, 2000 do redis.call('SET', string.rep('x', 6000) .. i, '') end");
    EXPECT_EQ(names_in(locks), std::vector<std::string>{"mine"});
    EXPECT_EQ(ids_of_subscribers(), connection) << client_log.text();
}

TEST(LargeForeignDataOnNodes, AStringIsListed) {
    support::redlock_group group(3);
    support::redlock_group::begin_set(group.url());
    client locks(pawl::from_url(group.url()));
    const auto lock = locks.acquire("mine", {.ttl = long_ttl, .wait = patience});
    for (std::size_t i = 0; i < 3; ++i)
        ASSERT_EQ(
            group.node(i).execute({"SET", "pawl:{big}", std::string(beyond_every_limit, 'x')}).text,
            "OK");
    EXPECT_NO_THROW((void)locks.inspect("big"));
    EXPECT_FALSE(locks.list().empty());
    EXPECT_EQ(lock.state(), lock_state::held);
}

}  // namespace
