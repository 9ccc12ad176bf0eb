// A machine is restored from a snapshot beside the one it was made of: the same holder twice, with
// the same owners. What the second one sends is played with the words of the first.
#include "scene.hpp"

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class Snapshot : public testing::Test, protected scene {
protected:
    // The server knows the scripts, so that one said by its hash is carried out at once.
    Snapshot() {
        for (const auto* each : {&scripts::renew, &scripts::release})
            (void)server.ask({"SCRIPT", "LOAD", std::string(each->text)});
    }
    support::command_words last(const pawl::redis::script& which) {
        support::command_words words;
        for (const auto& each : proxy.seen())
            if (script(which)(each.words)) words = each.words;
        return words;
    }
    std::int64_t first_answer(const support::command_words& words) {
        return server.ask(words).items.at(0).number();
    }
};

//   A: holds it, a snapshot of A is started as A' | both renew: the server cannot tell them apart |
//   A gives it back, B takes it | whatever A' sends by then changes nothing: its renewal is
//   refused, which tells A', and its release is refused; its token is smaller than B's
TEST_F(Snapshot, TheSecondHolderIsRefusedOnceTheFirstHasGivenItBack) {
    client locks = proxied(), others = direct();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    ASSERT_TRUE(eventually([&] { return proxy.count(script(scripts::renew)) > 0; }));
    const auto renewal = last(scripts::renew);
    EXPECT_EQ(first_answer(renewal), 1) << "both are taken for the holder";
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    const auto release = last(scripts::release);
    auto next = others.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    EXPECT_EQ(first_answer(renewal), 0);
    EXPECT_EQ(first_answer(release), 2);
    next.renew();
    EXPECT_EQ(next.release(), release_result::released);
}

//   A: reads, A' is A's twin | A' gives it back | A's renewal is refused: A is told
TEST_F(Snapshot, TheFirstIsToldWhenTheSecondGivesItBack) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const bell loss(lock);
    auto other = locks.acquire("other", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(other.release(), release_result::released);
    auto release = last(scripts::release);
    const auto value = server.ask({"GET", "pawl:{it}"}).text;
    for (auto& word : release) {
        if (const auto at = word.find("{other}"); at != std::string::npos)
            word.replace(at, 7, "{it}");
        if (word.find(';') != std::string::npos && word.find(";") == 32) word = value;
    }
    EXPECT_EQ(first_answer(release), 1);
    ASSERT_TRUE(loss.rang_within(10s));
    EXPECT_EQ(lock.why_lost(), pawl::loss_reason::taken_over);
}

//   A and A' draw the same owner, from a kernel that does not know that it was cloned | A takes the
//   lock | A' stands in line for it, looks, and finds itself to be the holder: with A's token, so
//   that no resource tells them apart. This is what docs/guarantees.md warns of
TEST_F(Snapshot, TwoThatDrawTheSameOwnerGetOneLock) {
    client locks = direct();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto value = server.ask({"GET", "pawl:{it}"}).text;
    const auto prefix = value.substr(0, value.rfind(';'));
    support::command_words look{"EVAL", std::string(scripts::look.text), "6"};
    for (const char* part : {"", ":f", ":q", ":w", ":h", ":d"})
        look.push_back(std::string("pawl:{it}") + part);
    for (const char* each : {"0 1000", "pawl:c:0:", "c:o"})
        look.emplace_back(each);
    look.push_back(prefix);
    for (const char* each : {"1200", "1900", "x", "0", "run"})
        look.emplace_back(each);
    const auto answer = server.ask(look);
    EXPECT_EQ(answer.items.at(0).number(), 1);
    EXPECT_EQ(answer.items.at(1).text, to_string(lock.token()));
}

}  // namespace
