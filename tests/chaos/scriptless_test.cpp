// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks without scripts (scripts=no), on a server that forbids them: replies that are lost, values
// that others write, clients with scripts beside those without, and servers without SET … IFEQ.
#include "rights.hpp"

#include <support/redis_server.hpp>

#include <algorithm>
#include <memory>

namespace {

using namespace chaos;
using support::command_words;

const std::string without_scripts = "?scripts=no";

class Scriptless : public testing::Test {
protected:
    support::redis_server& server() { return fixture_->server; }
    void forbid_scripts() {
        const command_words rule{"ACL", "SETUSER", "default", "-eval", "-evalsha"};
        ASSERT_EQ(server().execute(rule).text, "OK");
    }
    client proxied(const std::string& more = {}) {
        return fixture_->proxied_client(without_scripts + more);
    }
    // Its tries wait for delayed replies.
    client patient_client() {
        const auto url = fixture_->proxy.url(without_scripts + "&reply_timeout=60000");
        return client(pawl::from_url(url), {.try_limit = 1min});
    }
    client direct() { return fixture_->direct_client(without_scripts); }
    std::string value() { return server().execute({"GET", "pawl:{it}"}).text; }

    // Throws "NOT RUN: …" without a server that has SET with IFEQ: ctest knows these words.
    const std::unique_ptr<least_rights> fixture_ =
        std::make_unique<least_rights>(support::redis_options{
            .config = {"appendonly yes"}, .program = support::conditional_set_program()});
};

// A SET with this option, of the lock "it".
support::matcher set_with(const std::string& option) {
    return [option](const command_words& command) {
        return command.size() > 4 && command[0] == "SET" && command[1] == "pawl:{it}" &&
               std::ranges::find(command, option) != command.end();
    };
}

// The SET that raises a new counter of tokens of the lock "it" to the clock.
bool raises_counter(const command_words& command) {
    return command.size() == 5 && command[0] == "SET" && command[1] == "pawl:{it}:f";
}

// Executed or not: the next attempt has another value, and the lost one is deleted.
TEST_F(Scriptless, ALostReplyOfAnAcquireLeavesNothing) {
    for (const auto kind :
         {fault_kind::lose_reply, fault_kind::cut_reply, fault_kind::lose_request}) {
        client locks = proxied();
        (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
        const auto before = fixture_->proxy.strike_count();
        fixture_->proxy.inject({.matches = set_with("NX"), .kind = kind});
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(fixture_->proxy.strike_count(), before + 1);
        EXPECT_EQ(lock.release(), release_result::released);
        fixture_->proxy.inject({.matches = set_with("NX"), .kind = kind});
        const auto failed = fixture_->failure_of([&] { (void)locks.try_acquire("it"); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::unreachable) << failed;
        EXPECT_TRUE(fixture_->becomes_clean());
    }
}

// The token is taken after the lock, so its requests can be lost, too.
TEST_F(Scriptless, ALostReplyOfATokenLeavesNothing) {
    for (const auto& request : {support::named("INCR"), support::matcher(raises_counter)}) {
        client locks = proxied();
        (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
        (void)server().execute({"DEL", "pawl:{it}:f"});
        const auto before = fixture_->proxy.strike_count();
        fixture_->proxy.inject({.matches = request, .kind = fault_kind::lose_reply});
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(fixture_->proxy.strike_count(), before + 1);
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(fixture_->becomes_clean());
    }
}

// The release continues in the background, and ends no later hold.
TEST_F(Scriptless, AReleaseWithoutAnAnswerIsRepeated) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    fixture_->proxy.inject({.matches = set_with("PXAT"), .kind = fault_kind::lose_request});
    EXPECT_EQ(lock.release(), release_result::unknown);
    EXPECT_TRUE(fixture_->becomes_clean());
    auto other = direct().acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(other.release(), release_result::released);
}

//   A sets the key | somebody deletes it, and B takes lock and token | A takes a token above B's
// A's token would fence off B, which has the lock. So A does not get it.
TEST_F(Scriptless, AnEarlierHoldGetsNoLaterToken) {
    client first = patient_client(), second = direct();
    EXPECT_EQ(first.acquire("it", {.ttl = long_ttl, .wait = patience}).release(),
              release_result::released);
    // A machine that is busy needs the longer delays.
    for (const auto delay : {1s, 5s, 20s}) {
        const auto before = fixture_->proxy.strike_count();
        fixture_->proxy.inject(
            {.matches = support::named("INCR"), .kind = fault_kind::delay_request, .delay = delay});
        held_lock delayed;
        background_task trying([&] { delayed = first.try_acquire("it", {.ttl = long_ttl}); });
        EXPECT_TRUE(eventually([&] { return fixture_->proxy.strike_count() > before; }));
        const auto begin = boot_clock::now();
        EXPECT_TRUE(second.force_release("it"));
        auto lock = second.acquire("it", {.ttl = long_ttl, .wait = patience});
        const bool was_in_time = boot_clock::now() - begin < delay / 2;
        trying.join();
        if (was_in_time) {
            EXPECT_FALSE(delayed.owns_lock());
            lock.renew();
            EXPECT_EQ(lock.release(), release_result::released);
            return;
        }
        // Otherwise the next attempt may find the lock taken.
        (void)lock.release();
        if (delayed) (void)delayed.release();
    }
    FAIL() << "no delay was long enough";
}

//   A takes 1 from a new counter, which it is to raise to the clock | A's lock is released by
//   force, and B raises the counter | A: does not raise it | C: its token is just above B's, not
//   far ahead
TEST_F(Scriptless, TwoClientsThatRaiseACounterDoNotAddUp) {
    client first = patient_client(), second = direct();
    (void)first.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
    const auto before = fixture_->proxy.strike_count();
    fixture_->proxy.inject(
        {.matches = raises_counter, .kind = fault_kind::delay_request, .delay = 5s});
    held_lock delayed;
    background_task trying([&] { delayed = first.try_acquire("it", {.ttl = long_ttl}); });
    EXPECT_TRUE(eventually([&] { return fixture_->proxy.strike_count() > before; }));
    EXPECT_TRUE(second.force_release("it"));
    auto lock = second.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto token = lock.token().value();
    EXPECT_EQ(lock.release(), release_result::released);
    trying.join();
    const auto next = second.acquire("it", {.ttl = long_ttl, .wait = patience}).token().value();
    EXPECT_GT(next, token);
    EXPECT_LT(next, token + 1000);
}

TEST_F(Scriptless, AnOverwrittenValueIsALossAndStays) {
    client locks = direct();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    const loss_recorder loss(lock);
    (void)server().execute({"SET", "pawl:{it}", "theirs"});
    EXPECT_TRUE(loss.is_told_within(patience));
    EXPECT_EQ(lock.release(), release_result::taken_over);
    EXPECT_EQ(value(), "theirs");
    auto foreign = fixture_->failure_of([&] { (void)locks.acquire("it", {.wait = 50ms}); });
    ASSERT_TRUE(foreign.has_value());
    EXPECT_EQ(foreign->reason, errc::timed_out) << foreign;
}

TEST_F(Scriptless, AnotherTypeIsRefusedWithASentence) {
    client locks = direct();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    (void)server().execute({"DEL", "pawl:{it}"});
    (void)server().execute({"RPUSH", "pawl:{it}", "data"});
    EXPECT_EQ(lock.release(), release_result::taken_over);
    for (int i = 0; i < 2; ++i) {  // the first request of a connection, and a later one
        const auto failed = fixture_->failure_of([&] { (void)locks.try_acquire("it"); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::wrong_type) << failed;
    }
}

TEST_F(Scriptless, APausedHolderFindsThatItsLeaseHasEnded) {
    client first = proxied(), second = direct();
    auto lock = first.acquire("it", {.ttl = 500ms, .wait = patience});
    const loss_recorder loss(lock);
    fixture_->proxy.freeze(true);
    auto next = second.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_FALSE(lock.owns_lock());
    EXPECT_GT(next.token(), lock.token());
    fixture_->proxy.freeze(false);
    EXPECT_TRUE(loss.is_told_within(patience));
    EXPECT_NE(lock.release(), release_result::released);
    next.renew();
    EXPECT_EQ(next.release(), release_result::released);
}

// The counter is gone, with and without a restart; the clock keeps the tokens growing.
TEST_F(Scriptless, TokensGrowOverLostData) {
    client locks = direct();
    pawl::fencing_token last;
    const auto take = [&] {
        auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
        EXPECT_GT(lock.token(), last);
        last = lock.token();
    };
    for (int i = 0; i < 3; ++i)
        take();
    (void)server().execute({"FLUSHALL"});
    take();
    take();
    server().kill9();
    server().start(false);
    take();
    // Older data: the counter is there, but it is behind.
    server().kill9();
    server().start(false);
    (void)server().execute({"SET", "pawl:{it}:f", "77"});
    take();
}

// A counter does not stay for ever.
TEST_F(Scriptless, TheCounterExpires) {
    auto lock = direct().acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_TRUE(eventually([&] {
        return server().execute({"PTTL", "pawl:{it}:f"}).number() > 86'000'000;
    }));
}

// One key, one kind of value, one counter: they exclude each other, and tokens grow over both.
TEST_F(Scriptless, ClientsWithScriptsShareTheLocks) {
    client plain = direct(), scripted = fixture_->direct_client();
    pawl::fencing_token last;
    for (int i = 0; i < 4; ++i) {
        auto& holder = i % 2 == 0 ? plain : scripted;
        auto& other = i % 2 == 0 ? scripted : plain;
        auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_FALSE(other.try_acquire("it").owns_lock());
        EXPECT_GT(lock.token(), last);
        last = lock.token();
        const auto seen = other.inspect("it");
        ASSERT_TRUE(seen.held_by.has_value());
        EXPECT_EQ(seen.held_by->pid, ::getpid());
        EXPECT_EQ(seen.held_by->token, last);
        EXPECT_EQ(lock.release(), release_result::released);
    }
    auto reader = scripted.acquire(
        "it", {.ttl = long_ttl, .wait = patience, .mode = pawl::lock_mode::shared});
    EXPECT_FALSE(plain.try_acquire("it").owns_lock());
    const auto failed = fixture_->failure_of([&] { (void)plain.force_release("it"); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unsupported) << failed;
    EXPECT_EQ(reader.release(), release_result::released);
}

// A waiter with scripts has no message of a release without them; its refresh finds the lock free.
TEST_F(Scriptless, AWaiterWithScriptsGetsALockThatIsReleasedWithoutThem) {
    client plain = direct(), scripted = fixture_->direct_client();
    auto lock = plain.acquire("it", {.ttl = long_ttl, .wait = patience});
    held_lock next;
    background_task waiting(
        [&] { next = scripted.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    EXPECT_TRUE(eventually([&] { return fixture_->waiters("it") == 1; }));
    EXPECT_EQ(lock.release(), release_result::released);
    waiting.join();
    EXPECT_GT(next.token(), lock.token());
}

// What a plain SET NX PX library writes, and what it deletes.
TEST_F(Scriptless, OtherLibrariesShareTheLocks) {
    client locks = fixture_->direct_client("?scripts=no&key={name}");
    ASSERT_EQ(server().execute({"SET", "it", "theirs", "NX", "PX", "60000"}).text, "OK");
    EXPECT_FALSE(locks.try_acquire("it").owns_lock());
    (void)server().execute({"DEL", "it"});
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_NE(server().execute({"SET", "it", "theirs", "NX", "PX", "60000"}).text, "OK");
    EXPECT_EQ(lock.release(), release_result::released);
}

// With the printed rights alone: nothing is refused, and no right is unused.
TEST_F(Scriptless, TheLeastRightsSuffice) {
    fixture_->allow({}, without_scripts);
    const auto rights = fixture_->allowed("+");
    EXPECT_EQ(std::ranges::count(rights, "+evalsha") + std::ranges::count(rights, "+eval"), 0);
    client locks = fixture_->user_client(without_scripts);
    client other = fixture_->user_client(without_scripts);
    for (int i = 0; i < 2; ++i) {
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_FALSE(other.try_acquire("it").owns_lock());
        lock.renew();
        EXPECT_EQ(other.list().size(), 1U);
        EXPECT_TRUE(other.force_release("it"));
        EXPECT_EQ(lock.release(), release_result::expired);
    }
    (void)locks.examine();
    fixture_->expect_nothing_refused();
    EXPECT_EQ(fixture_->unused_commands(), command_words{});
}

// The way out is named where scripts are refused, by an acquire and by the examination.
TEST_F(Scriptless, ARefusedScriptNamesTheWayOut) {
    forbid_scripts();
    client scripted = fixture_->direct_client();
    const auto failed = fixture_->failure_of([&] { (void)scripted.try_acquire("it"); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_NE(failed->sentence.find("add scripts=no to the URL"), std::string::npos) << failed;
    const auto findings = scripted.examine().findings;
    const auto refused = std::ranges::find(findings, std::string("scripts"), &pawl::finding::topic);
    ASSERT_NE(refused, findings.end());
    EXPECT_EQ(refused->level, pawl::finding::grade::bad);
    EXPECT_NE(refused->advice.find("scripts=no"), std::string::npos) << refused->advice;

    auto lock = direct().acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(lock.release(), release_result::released);
    const auto accepted = direct().examine().findings;
    const auto condition =
        std::ranges::find(accepted, std::string("SET with IFEQ"), &pawl::finding::topic);
    ASSERT_NE(condition, accepted.end());
    EXPECT_EQ(condition->level, pawl::finding::grade::good);
}

// Before it takes a lock that it could not release. The proxy replies as Redis 7 does.
TEST(ScriptlessServers, WithoutTheConditionAreRefused) {
    redis_fixture fixture;
    fixture.proxy.inject({.matches = support::with_word("IFEQ"),
                          .kind = fault_kind::reply,
                          .reply = "-ERR syntax error\r\n",
                          .times = 1000});
    client locks = fixture.proxied_client(without_scripts);
    const auto failed = fixture.failure_of([&] { (void)locks.try_acquire("it"); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unsupported) << failed;
    EXPECT_NE(failed->sentence.find("Valkey 8.1"), std::string::npos) << failed;
    EXPECT_TRUE(fixture.server.keys().empty());
    const auto report = locks.examine();
    EXPECT_EQ(report.guarantees.holder_crash, "does not apply: no lock is taken there");
    const auto& findings = report.findings;
    const auto condition =
        std::ranges::find(findings, std::string("SET with IFEQ"), &pawl::finding::topic);
    ASSERT_NE(condition, findings.end());
    EXPECT_EQ(condition->level, pawl::finding::grade::bad);
}

// Each mode that needs scripts says so in one sentence.
TEST_F(Scriptless, ModesThatNeedScriptsAreRefused) {
    client locks = direct();
    const auto sentence = [&](const pawl::lock_options& options) {
        const auto failed = fixture_->failure_of([&] { (void)locks.acquire("it", options); });
        return failed && failed->reason == errc::unsupported ? failed->sentence : std::string();
    };
    for (const auto& options :
         {pawl::lock_options{.wait = 1s, .mode = pawl::lock_mode::shared},
          pawl::lock_options{.wait = 1s, .mode = pawl::lock_mode::permits, .total_permits = 2},
          pawl::lock_options{.wait = 1s, .fair = true}})
        EXPECT_NE(sentence(options).find("leave scripts=no out"), std::string::npos)
            << sentence(options);
}

}  // namespace
