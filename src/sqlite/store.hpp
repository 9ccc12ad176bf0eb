// The steps of the protocol, each one transaction. docs/sqlite.md tells the story.
#pragma once

#include "database.hpp"
#include "doorbell.hpp"
#include "place.hpp"

#include <pawl/backend.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pawl::sqlite {

// How long a waiter that was given the lock has to say that it is alive.
inline constexpr duration claim_window = std::chrono::milliseconds(1800);
// How long a place in line outlives the last sign of its owner.
inline constexpr duration waiter_lease = std::chrono::seconds(4);

// What an asker found.
struct standing {
    enum class kind : std::uint8_t { granted, waiting, busy };
    kind what = kind::busy;
    time_point expires{};  // of the lease: ours when granted, else the holder's
    fencing_token token;   // granted
    bool confirm = false;  // granted: for the claim window only
    bool first = false;    // waiting: nobody is before us
};

// What `examine` reads from the file.
struct facts {
    std::string file_system, version, journal, check;
    std::int64_t bytes = 0;
    duration commit{};  // one transaction, on the disk
    bool rings = false;
};

// One client's access to the file. Used by the worker thread alone; opens at the first use. Every
// member throws pawl::error; afterwards the same call may be made again.
class store {
public:
    struct settings {
        std::string path;
        std::string name_space;
        identity who;
        std::function<void(std::string_view)> log;
    };

    // `heard` is told of every ring, on the worker thread.
    store(settings what, runtime& time, boost::asio::any_io_executor worker,
          std::function<void(ring)> heard);
    ~store();

    // Takes the lock, or a place in line where `wait`.
    standing attempt(const claim& what, bool wait);
    // Keeps the place in line, and finds what came of it; hands on a lock whose lease is over.
    standing look(const claim& what);
    // Whether the claim was granted, from a reading alone.
    std::optional<standing> granted(const std::string& name, const std::string& owner);
    // Out of the line. What was granted meanwhile is the answer where `keep`, else it is passed on.
    std::optional<standing> leave(const claim& what, bool keep);
    release_result release(const std::string& name, const std::string& owner);
    void renew(std::span<renewal> batch);
    bool force_release(const std::string& name);
    lock_info inspect(const std::string& name);
    std::vector<lock_info> list(const std::string& prefix);
    facts examine();
    // Any thread: whatever waits for other connections now gives up at once.
    void hurry() noexcept { hurry_ = true; }
    // Closes the file and the socket; the next use opens them again.
    void close() noexcept;

private:
    struct tenancy {
        std::string owner, client;
        identity who;
        std::chrono::system_clock::time_point since{};
        time_point expires{};
        fencing_token token;
        bool live = false;  // at the time of the reading
    };
    struct statements;

    void open();
    void disconnect() noexcept;
    void sweep();
    template <class Step>
    auto transact(durability how, Step step);
    template <class Step>
    auto read(Step step);

    std::optional<tenancy> find(const std::string& name, time_point now);
    void put(const std::string& name, tenancy& lock);
    void enqueue(const claim& what, time_point now);
    bool anybody_waits(const std::string& name);
    bool is_first(const claim& what);
    // To the first live waiter, or to nobody. `asking` gets the whole ttl when it is the one.
    std::optional<tenancy> hand_on(const std::string& name, time_point now,
                                   const claim* asking = nullptr);
    standing waiting(const claim& what, const tenancy& held);
    lock_info describe(const std::string& name, const std::optional<tenancy>& found,
                       time_point now);

    settings what_;
    runtime& time_;
    boost::asio::any_io_executor worker_;
    std::function<void(ring)> heard_;
    std::atomic<bool> hurry_ = false;
    std::string boot_;
    std::unique_ptr<doorbell> bell_;
    std::unique_ptr<database> database_;
    std::unique_ptr<open_mark> mark_;
    std::unique_ptr<statements> sql_;
    std::vector<std::pair<std::string, ring>>
        rings_;  // to be sent when the transaction is on the disk
};

}  // namespace pawl::sqlite
