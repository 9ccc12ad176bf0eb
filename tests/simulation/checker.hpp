// What must be true in every world (docs/testing.md, "The simulation"). It sees what users hold and
// every command that the server carries out, and knows which troubles excuse what.
#pragma once

#include "latch_checker.hpp"
#include "plan.hpp"
#include "trace.hpp"

#include <pawl/held_lock.hpp>
#include <pawl/held_locks.hpp>
#include <pawl/options.hpp>
#include <redis/keys.hpp>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pawl::simulation {

class checker final : public simulated_network::witness {
public:
    checker(scheduler& world, simulated_network& network, const plan& what, trace& log);

    void add_name(const std::string& name, const redis::keys& where, std::size_t database = 0,
                  bool has_permits = false);
    [[nodiscard]] latch_checker& latches() noexcept { return latches_; }

    // What a user knew when it asked.
    struct question {
        instant invoked{};
        std::uint64_t newest = 0;  // token that anybody had been given by then
        duration ttl{};
        lock_mode mode{};
        std::uint32_t permits = 1;
    };
    [[nodiscard]] question asked(process& by, const std::string& name, const lock_options& options);

    // The handle must stay where it is until `gone`.
    using tenure_id = std::uint64_t;
    tenure_id granted(process& by, const std::string& name, const held_lock& handle,
                      const question& asked);
    // The user gives it up; from here on it does not believe.
    void gone(tenure_id which);
    struct given_up {
        std::uint64_t token;
        lock_mode mode;
    };
    // `what` has one line for each name; `found`, the worst of them.
    void released(const std::vector<std::string>& names, const std::vector<given_up>& what,
                  bool surely, instant called, release_result found);
    // The user has asked for a downgrade: others may read from now on.
    void steps_down(tenure_id which);
    // The user writes to the resource that the lock guards.
    void wrote(tenure_id which);
    // The user saw that it lost the lock.
    void noticed_loss(tenure_id which);
    void died(process& who);

    // Of several names as one, sorted: a user asks for them, is answered, and was given them.
    void set_asked(process& by, const std::vector<std::string>& names);
    void set_ended(process& by, const std::vector<std::string>& names);
    void set_given(process& by, const held_locks& set, const std::vector<std::string>& wanted);
    void look_at_set(const held_locks& set);
    [[nodiscard]] bool disturbed_since(const std::vector<std::string>& names, instant when) const;

    [[nodiscard]] bool excused(tenure_id which) const;

    // Locks may have been taken from their holders: of this name, or of all.
    void disturbed(const std::string* name);
    // The server's clock was set forward: whatever has a ttl there ends early.
    void clock_set();
    // The server refuses every script from now on, or ceases to.
    void refusing(bool on);
    [[nodiscard]] bool refused_since(instant when) const;
    // They may also have been given back to them: the server came up with what was true a while
    // ago.
    void set_back();
    // The same under live connections: who reads may also have joined a phase that was over.
    void data_went_back();
    void executed(process& by, const words& command, const redis::reply& answer) override;
    void data_changed() override;

    // At the end, when nobody wants anything any more: no lock of the living, then no waiter.
    void expect_no_locks();
    void expect_no_waiters();

    void fail(const std::string& rule, const std::string& what);
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }
    [[nodiscard]] std::uint64_t grants() const noexcept { return grants_; }

private:
    struct tenure {
        process* by = nullptr;
        std::string name;
        const held_lock* handle = nullptr;
        std::uint64_t token = 0;
        duration ttl{};
        instant excused_until{-1};
        lock_mode mode{};
        std::uint32_t permits = 1;
        std::stop_token lost{};  // as the user took it when the lock was granted
    };
    // Who holds it beside others, as the server knows: see src/redis/scripts/_holders.lua.
    struct holder {
        std::string value;
        std::uint64_t token = 0;
        std::int64_t permits = 0, ends_ms = 0;
    };
    using holders = std::map<std::string, holder>;  // by owner
    struct book {
        redis::keys where;
        std::size_t database = 0;
        bool has_permits = false;
        std::string value;                            // of the lock, when last looked at
        std::map<std::string, std::uint64_t> tokens;  // of every value there was
        std::map<std::string, std::uint64_t> renumbered;
        std::set<std::uint64_t> returned;  // tokens, to users
        std::set<std::uint64_t> of_readers;
        std::multiset<std::pair<const process*, std::uint64_t>> taken;  // who was given which
        holders beside;                                                 // when last looked at
        std::set<std::string> seen;                                     // their values
        std::uint64_t newest = 0;
        std::uint64_t written = 0;  // the resource's highest
        instant disturbed{-1};
        instant set_back{-1};
        bool readers_from_before = false;
        instant forced{-1};
        std::map<std::string, std::int64_t> leases;  // of waiters, ms
        std::set<std::string> left;
        std::map<std::string, instant> since;  // when a value was first seen
        // Of each program: how many of its users ask for this name with others, and when one last
        // ceased to.
        struct asking_for_sets {
            int asking = 0;
            instant ended{-1};
        };
        std::map<const process*, asking_for_sets> sets;
    };
    struct call;  // of a script, as the server carried it out
    struct call_of_several {
        std::size_t database = 0;
        std::vector<std::pair<std::string, std::string>> wanted;  // key and value
        bool granted = false;
    };

    [[nodiscard]] store& data_of(const book& at) const {
        return network_.server().data(at.database);
    }
    [[nodiscard]] bool believes(const tenure& one) const;
    [[nodiscard]] bool is_excused(const tenure& one) const;
    [[nodiscard]] bool awake(const process& who, instant for_the_last) const;
    [[nodiscard]] std::string value_now(const book& at);
    [[nodiscard]] bool server_has(const book& at, std::uint64_t token);
    [[nodiscard]] std::optional<instant> server_end(const book& at, const tenure& one);
    [[nodiscard]] instant instant_at(std::int64_t server_ms);
    [[nodiscard]] holders beside_now(const book& at);
    [[nodiscard]] bool held_as(const book& at, std::string_view mark) const;
    [[nodiscard]] std::uint64_t counter_now(const book& at);
    [[nodiscard]] process* client_of(const std::string& value) const;
    [[nodiscard]] static std::string member_of(const std::string& value);
    [[nodiscard]] std::string shown(const tenure& one) const;

    void check_tokens(const tenure& one, book& at, const question& asked);
    void check_alone(const tenure& one);
    [[nodiscard]] bool go_together(const tenure& one, const tenure& other) const;
    void check_permits(const tenure& one);
    void watch(tenure_id which);
    void check_deadline(tenure_id which, instant deadline);
    void check_ours(const tenure& one, const std::string& when);
    void look_at(book& at, const call& what);
    void changed(book& at, const call& what, const std::string& now);
    void look_at_holders(book& at, const call& what);
    void joined(book& at, const call& what, const std::string& owner);
    void expect_all_told(const book& of);
    [[nodiscard]] bool could_go(const book& at, const std::string& record, bool first);
    void passed_on(book& at, const call& what, const std::string& now);
    void expect_delivery(book& at, const std::string& value);
    void expect_told(const book& of, std::uint64_t token);
    void check_rules(book& at, const call& what);
    void check_nobody_forgotten(book& at, const call& what);
    void check_steps(const std::string& request, const redis::reply& answer);
    void check_all_or_none(const call_of_several& what);
    void check_owners(std::string_view script, const words& arguments);
    void check_budget(process& by, std::string_view script, const std::string& key,
                      const words& arguments);
    void spend(const process& by, const std::string& what, std::size_t in_a_second,
               std::size_t in_five);
    [[nodiscard]] bool has_set_under_way(book& at, const process& by) const;
    void expect_nothing_left(book& at, process& by);

    scheduler& world_;
    simulated_network& network_;
    const plan& plan_;
    trace& log_;
    std::map<std::string, book> books_;
    std::map<std::pair<std::size_t, std::string>, book*> by_key_;  // database and key
    std::map<tenure_id, tenure> tenures_;
    std::map<std::string, std::string> steps_;  // of latches, by request: what was answered first
    std::map<std::string, process*, std::less<>> clients_;
    std::set<const process*> dead_;
    instant clock_set_{-1};
    bool refusing_ = false;
    instant refused_{-1};                        // when it last ceased to
    std::set<std::string, std::less<>> owners_;  // of every request that could make a hold
    std::map<const process*, std::deque<instant>> asked_;  // by its users
    using spending = std::pair<const process*, std::string>;
    std::map<spending, std::deque<instant>> refused_requests_;
    std::map<std::string, std::size_t> refused_renewals_;  // in a row, by value
    latch_checker latches_;
    tenure_id made_ = 0;
    std::uint64_t grants_ = 0;
    std::string violation_;
};

}  // namespace pawl::simulation
