// The latches of one world. All clients of the world call in here.
#pragma once

#include "core/latch.hpp"
#include "world.hpp"

#include <pawl/latches.hpp>

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace pawl::memory {

// Thread-safe: one mutex, never held while anything waits.
class latch_book {
public:
    struct waiter {
        explicit waiter(std::shared_ptr<session> who)
            : by(std::move(who)), alarm(*by->time, by->strand) {}
        std::shared_ptr<session> by;
        core::alarm alarm;  // of the client's strand
    };

    bool try_set(const std::string& name, std::uint32_t count, duration ttl, time_point now);
    latches::step count_down(const std::string& name, std::uint32_t steps, time_point now);
    latches::step arrive(const std::string& name, std::uint32_t parties, duration ttl,
                         time_point now);
    // In line until `leave`.
    void join(const std::string& name, const std::shared_ptr<waiter>& one);
    void leave(const std::string& name, const std::shared_ptr<waiter>& one);
    core::latch_standing look(const std::string& name, time_point now);
    latch_info inspect(const std::string& name, time_point now);
    bool reset(const std::string& name, time_point now);

private:
    struct entry : core::latch_standing {
        std::uint32_t parties = 0;
        duration ttl{};
    };

    // Null where there is none, or its time is over.
    entry* find(const std::string& name, time_point now);
    void begin(entry& one, std::uint32_t count, std::uint32_t parties);
    latches::step step_down(const std::string& name, entry& one, std::uint64_t steps,
                            time_point now);
    void ring(const std::string& name);

    std::mutex mutex_;
    std::map<std::string, entry, std::less<>> entries_;
    std::map<std::string, std::list<std::shared_ptr<waiter>>, std::less<>> lines_;
    std::uint64_t last_generation_ = 0;  // one for all names, so that none comes twice
};

// One client's side.
class memory_latches final : public latches {
public:
    memory_latches(std::shared_ptr<latch_book> book, std::shared_ptr<session> me);

    boost::asio::awaitable<bool> try_set(std::string_view name, std::uint32_t count,
                                         duration ttl) override;
    boost::asio::awaitable<step> count_down(std::string_view name, std::uint32_t steps) override;
    boost::asio::awaitable<step> arrive(std::string_view name, std::uint32_t parties,
                                        duration ttl) override;
    boost::asio::awaitable<bool> wait(std::string_view name, std::uint64_t generation,
                                      time_point give_up_at) override;
    boost::asio::awaitable<latch_info> inspect(std::string_view name) override;
    boost::asio::awaitable<bool> reset(std::string_view name) override;

private:
    // Refuses a fork, and counts.
    time_point begin_request() const;

    std::shared_ptr<latch_book> book_;
    std::shared_ptr<session> me_;
    std::uint32_t born_in_;
};

}  // namespace pawl::memory
