// A server whose answers contradict each other is not asked in a loop.
#include "scene.hpp"

#include <support/scripted_server.hpp>

#include <atomic>

namespace {

using namespace chaos;
using support::conversation;

std::string bulk(const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

std::string wall_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

// It says "somebody else's" to an acquire, `look` to a look, and "not yours" to a renewal.
class contradiction {
public:
    explicit contradiction(std::function<std::string()> look) : look_(std::move(look)) {}

    // One waiter, for two seconds.
    void meet() {
        const support::scripted_server server([this](conversation& with) { serve(with); });
        client locks(pawl::redis::at(server.url()));
        try {
            (void)locks.acquire("it", {.ttl = 10s, .wait = 2s});
            ADD_FAILURE() << "it was granted";
        } catch (const pawl::error& what) {
            EXPECT_EQ(what.reason(), errc::timed_out) << what.what();
        }
    }

    std::atomic<int> looks = 0, renewals = 0;

private:
    void serve(conversation& with) {
        for (auto words = with.greet(); words; words = with.receive())
            if (!with.send(answer(*words))) return;
    }
    std::string answer(const support::command_words& words) {
        if (words[0] != "EVALSHA" && words[0] != "EVAL") return "+OK\r\n";
        if (words[2] == "4") return "*4\r\n:0\r\n:100\r\n" + bulk(wall_ms()) + ":0\r\n";
        if (words[2] == "1") return ++renewals, "*1\r\n:0\r\n";
        if (words.size() != 3 + 6 + 9) return ":0\r\n";  // a waiter that leaves
        ++looks;
        return look_();
    }

    const std::function<std::string()> look_;
};

TEST(Contradiction, OfAGrantThatARenewalRefusesIsMetWithPauses) {
    contradiction server(
        [] { return "*4\r\n:1\r\n" + bulk("5983000000000") + bulk(wall_ms()) + ":10\r\n"; });
    server.meet();
    EXPECT_GE(server.renewals, 2) << "the first refusal is what a race looks like";
    EXPECT_LE(server.renewals, 12);
    EXPECT_LE(server.looks, 16);
}

TEST(Contradiction, OfALeaseThatAlwaysEndsNowIsLookedAtNowAndThen) {
    contradiction server([] { return "*4\r\n:0\r\n:0\r\n" + bulk(wall_ms()) + ":0\r\n"; });
    server.meet();
    EXPECT_GE(server.looks, 3);
    EXPECT_LE(server.looks, 45);
}

}  // namespace
