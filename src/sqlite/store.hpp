// The steps of the protocol, each one transaction. docs/sqlite.md tells the story.
#pragma once

#include "database.hpp"
#include "doorbell.hpp"
#include "file_identity.hpp"
#include "place.hpp"

#include <pawl/backend.hpp>

#include <atomic>
#include <functional>
#include <map>
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
    time_point expires{};  // of the lease: ours when granted, else the first one to end
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
    file_rights rights;
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
        bool make_folder = false;
        std::function<std::string()> boot = this_boot;
    };
    // Called on the worker thread.
    struct events {
        std::function<void(ring)> heard;
        // The file was replaced: the hold of this owner is over.
        std::function<void(const std::string& owner)> lost;
    };

    store(settings what, runtime& time, boost::asio::any_io_executor worker, events told);
    ~store();

    // Takes the lock, or a place in line where `wait`. Throws errc::bad_option for permits that can
    // never be had; so does `look`.
    standing attempt(const claim& what, bool wait);
    // Keeps the place in line, and finds what came of it; hands on a lock whose lease is over.
    standing look(const claim& what);
    // Whether the claim was granted, from a reading alone.
    std::optional<standing> granted(const std::string& name, const std::string& owner);
    // Out of the line. What was granted meanwhile is the answer where `keep`, else it is passed on.
    std::optional<standing> leave(const claim& what, bool keep);
    release_result release(const claim& what);
    void renew(std::span<renewal> batch);
    // Empty: it is not ours any more.
    std::optional<standing> downgrade(const claim& what);
    void resize(const std::string& name, std::uint32_t permits);
    bool force_release(const std::string& name);
    lock_info inspect(const std::string& name);
    std::vector<lock_info> list(const std::string& prefix);
    facts examine();
    // Any thread: whatever waits for other connections now gives up at once.
    void hurry() noexcept { hurry_ = true; }
    // Closes the file and the socket; the next use opens them again.
    void close() noexcept;

private:
    friend class latch_book;
    struct tenancy {
        std::string owner, client;
        identity who;
        std::chrono::system_clock::time_point since{};
        time_point expires{};
        fencing_token token;
        lock_mode mode = lock_mode::exclusive;
        std::uint32_t permits = 0;
        bool live = false;  // at the time of the reading
    };
    // Those whose leases go on, all in one mode; and whether the file has rows of others.
    struct tenants {
        std::vector<tenancy> live;
        bool ended = false;

        [[nodiscard]] const tenancy* find(std::string_view owner) const noexcept;
        [[nodiscard]] time_point first_end() const noexcept;
    };
    struct waiter {
        std::string owner, client;
        identity who;
        duration ttl{};
        bool in_time = false;
        lock_mode mode = lock_mode::exclusive;
        std::uint32_t permits = 0;
    };
    struct statements;

    void open();
    void connect();
    void disconnect() noexcept;
    [[nodiscard]] bool was_replaced(file_identity::state seen) const;
    // Lets go of a file that was deleted or replaced: what was held in it is lost.
    void abandon();
    void look_again();
    void expect_same_file();
    void sweep();
    std::optional<standing> remember(const claim& what, std::optional<standing> answer);
    std::int64_t next_token();
    std::optional<fencing_token> token_of_phase(const tenants& beside);
    [[nodiscard]] bool is_live(std::string_view boot, std::int64_t set_at, time_point expires,
                               time_point now) const noexcept;
    template <class Step>
    auto transact(durability how, Step step);
    template <class Step>
    auto read(Step step);

    standing ask(const claim& what, bool wait, bool again);
    tenancy tenancy_in(const statement& row, time_point now) const;
    tenants find(const std::string& name, time_point now);
    std::optional<tenancy> find(const std::string& name, const std::string& owner, time_point now);
    void put(const std::string& name, tenancy lock, tenants& beside, time_point now);
    void evict(const std::string& name, tenants& held, time_point now);
    void enqueue(const claim& what, time_point now);
    std::optional<waiter> first(const std::string& name, time_point now);
    bool is_dead(const waiter& one);

    std::uint32_t permits_of(const std::string& name);
    // `again`: what it said of their number was right when it came into line.
    void check_permits(claim what, bool again);
    bool fits(const std::string& name, lock_mode mode, std::uint32_t permits, const tenants& held);
    bool too_many(const std::string& name, const waiter& one);
    // Whether the line would move.
    bool may_serve(const std::string& name, const tenants& held, time_point now);
    // Lets in whoever is first in line as long as that fits; true: somebody is left who does not.
    // `asking` gets the whole ttl when it is among them.
    bool serve(const std::string& name, tenants& held, time_point now,
               const claim* asking = nullptr);
    standing waiting(const claim& what, const tenants& held, time_point now);
    lock_info describe(const std::string& name, tenants held, time_point now);

    settings what_;
    runtime& time_;
    boost::asio::any_io_executor worker_;
    events told_;
    std::atomic<bool> hurry_ = false;
    std::string boot_;
    std::unique_ptr<doorbell> bell_;
    std::unique_ptr<database> database_;
    std::unique_ptr<open_mark> mark_;
    std::unique_ptr<file_identity> files_;
    std::unique_ptr<statements> sql_;
    // Ours, by owner, with the ends of their leases. Only these are renewed: in another file, a row
    // of the same owner proves nothing.
    std::map<std::string, time_point> held_;
    std::int64_t newest_token_ = 0;  // that we know of
    std::vector<std::pair<std::string, ring>>
        rings_;  // to be sent when the transaction is on the disk
};

}  // namespace pawl::sqlite
