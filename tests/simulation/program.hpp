// A simulated program: one Pawl client, and users who lock with it.
#pragma once

#include "checker.hpp"
#include "space.hpp"
#include "virtual_runtime.hpp"

#include <pawl/client.hpp>
#include <pawl/redis.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::simulation {

class inhabitant;

// What all programs of a world share.
struct surroundings {
    scheduler& world;
    simulated_network& network;
    checker& judge;
    trace& log;
    const plan& what;
    const space& at;
    const std::vector<std::string>& names;
};

class program {
public:
    program(const surroundings& around, std::string label, prng chance);
    ~program();

    void start(std::size_t users);
    void pause();
    void resume();
    // SIGKILL. Its memory stays until `end`, where nobody sees it.
    void crash();
    // No new locks; those that are held are given back.
    void finish();
    // Who still waits for a latch gives up.
    void stop_waiting();
    [[nodiscard]] bool finished() const;
    void force_release(const std::string& name);
    // They want nothing any more, and have no handle.
    void dismiss_users();
    // The client goes; a dead program's, too, so that nothing stays in memory.
    void end();
    void run_out_of(resource which);
    void recover();
    // What its library has allocated: while it is used, when nobody uses it, and after its end.
    void check_memory() const;
    void check_idle_memory() const;
    void check_no_memory() const;
    [[nodiscard]] std::size_t timers() const noexcept { return time_.pending(); }

    [[nodiscard]] bool alive() const noexcept { return alive_; }
    [[nodiscard]] process& home() noexcept { return process_; }
    [[nodiscard]] virtual_runtime& time() noexcept { return time_; }
    [[nodiscard]] client& locks() noexcept { return *client_; }
    [[nodiscard]] client& redisson() noexcept { return *redisson_; }
    [[nodiscard]] const surroundings& around() const noexcept { return around_; }
    [[nodiscard]] const std::string& label() const noexcept { return label_; }

private:
    void add_latch_users();
    [[nodiscard]] std::size_t clients() const noexcept { return around_.what.redisson ? 2 : 1; }

    const surroundings around_;
    const std::string label_;
    prng chance_;
    process process_;
    virtual_runtime time_;
    std::optional<client> client_;
    std::optional<client>
        redisson_;  // of the same database, where the world has Redisson's latches
    std::vector<std::unique_ptr<inhabitant>> users_;
    bool alive_ = true;
};

}  // namespace pawl::simulation
