#include "face.hpp"

#include <pawl/blocking.hpp>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace peers {

namespace {

using pawl::boot_clock;

struct game {
    std::mutex mutex;
    std::condition_variable next;
    round state;
};

void play_round(pawl::blocking::client& locks, game& all) {
    for (;;) {
        auto lock = locks.acquire("hand");
        const auto now = boot_clock::now();
        std::unique_lock guard(all.mutex);
        const auto mine = all.state.enter(now);
        all.next.notify_all();
        const bool over = all.state.over;
        guard.unlock();
        if (!over) std::this_thread::sleep_for(pause());
        guard.lock();
        all.state.released = boot_clock::now();
        guard.unlock();
        lock.release();
        guard.lock();
        all.next.wait(guard, [&] { return !all.state.must_wait(mine); });
        if (all.state.over) return;
    }
}

class threads : public face {
public:
    explicit threads(std::string url) : url_(std::move(url)) {}

    pairs_result pairs(int users, double seconds) override {
        pawl::blocking::client& locks = client(0);
        pairs_result result;
        std::atomic<std::int64_t> count = 0;
        const auto began = boot_clock::now();
        {
            std::vector<std::jthread> crowd;
            for (int user = 0; user < users; ++user) {
                crowd.emplace_back([&, name = "pair/" + std::to_string(user)] {
                    for (auto before = began; microseconds(before - began) < seconds * 1e6;) {
                        locks.acquire(name).release();
                        const auto now = boot_clock::now();
                        if (users == 1) result.us.push_back(microseconds(now - before));
                        before = now;
                        ++count;
                    }
                });
            }
        }
        result.pairs = count;
        result.seconds = microseconds(boot_clock::now() - began) / 1e6;
        return result;
    }

    std::vector<double> handoff(int users, int clients, double seconds) override {
        game all;
        {
            std::vector<std::jthread> crowd;
            for (int user = 0; user < users; ++user) {
                crowd.emplace_back(play_round, std::ref(client(user % clients)), std::ref(all));
            }
            std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
            const std::lock_guard guard(all.mutex);
            all.state.over = true;
            all.next.notify_all();
        }
        return all.state.us;
    }

    void take(const std::string& name) override { held_[name] = client(0).acquire(name); }

    void give(const std::string& name) override {
        held_[name].release();
        held_.erase(name);
    }

    void wait(const std::string& name, std::function<void()> got) override {
        waiters_.emplace_back([&locks = client(1), name, got = std::move(got)] {
            locks.acquire(name).release();
            got();
        });
    }

    void watch(const std::string& name, pawl::duration ttl, std::function<void()> lost) override {
        held_[name] = client(0).acquire(name, {.ttl = ttl});
        watched_.emplace(held_[name].lost(), std::move(lost));
    }

private:
    pawl::blocking::client& client(int number) {
        while (static_cast<int>(clients_.size()) <= number) {
            clients_.push_back(std::make_unique<pawl::blocking::client>(pawl::from_url(url_)));
        }
        return *clients_[static_cast<std::size_t>(number)];
    }

    std::string url_;
    std::vector<std::unique_ptr<pawl::blocking::client>> clients_;
    std::map<std::string, pawl::blocking::held_lock> held_;
    std::vector<std::jthread> waiters_;
    std::optional<std::stop_callback<std::function<void()>>> watched_;
};

}  // namespace

std::unique_ptr<face> make_threads(std::string url) {
    return std::make_unique<threads>(std::move(url));
}

}  // namespace peers
