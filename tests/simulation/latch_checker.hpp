// What must be true of latches and barriers in every world (docs/testing.md, I11 to I14). It sees
// every command that the server carries out, and what waiters are told.
#pragma once

#include "plan.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

class latch_checker {
public:
    using failing = std::function<void(const std::string& rule, const std::string& sentence)>;
    using is_awake = std::function<bool(const process& program, instant for_the_last)>;

    latch_checker(scheduler& world, simulated_network& network, const plan& of, failing fail,
                  is_awake awake);

    struct latch_keys {
        std::size_t database = 0;
        std::string key;
        bool redisson = false;  // a number that is gone at 0
    };
    void add(const std::string& name, const latch_keys& keys);

    // A user waits for that turn, or, where it is 0, for the present one, and began to do so then.
    using wait_id = std::uint64_t;
    enum class ending : std::uint8_t { passed, unknown_latch, other };
    wait_id waits(process& by, const std::string& name, std::uint64_t turn, instant since,
                  bool listens);
    void ended(wait_id which, ending how);
    // Of a step: the server did not know the latch.
    void unknown_latch(const std::string& name, instant since);

    void executed(std::size_t database, const std::vector<std::string>& command,
                  std::string_view script, const redis::reply& answer);
    void data_changed();
    // Every trouble is over; and later: all who sleep had time enough since.
    void healed();
    void expect_no_sleepers();

private:
    struct standing {
        bool known = false;
        std::uint64_t count = 0, generation = 0, first = 0;
        std::int64_t ends_ms = 0;  // 0: without an end
        [[nodiscard]] bool operator==(const standing&) const noexcept = default;
    };
    struct book {
        latch_keys where;
        standing now;  // when last looked at
        standing when_healed;
        instant since{};  // when it changed
        instant opened{-1}, unknown{-1};
        bool went_back = false;
        std::map<std::uint64_t, instant> over;  // turns that came to 0
        // Of each turn of a barrier: which request was told that so many are missing.
        std::map<std::uint64_t, std::map<std::string, std::string>> arrivals;
        std::map<const process*, instant> listened;  // when its last wait ended
    };
    struct wait {
        const process* by;
        book* at;
        std::string name;
        std::uint64_t turn;
        instant since, began;
        bool listens;
    };

    [[nodiscard]] static bool is_open(const book& at) {
        return at.where.redisson ? !at.now.known : at.now.known && at.now.count == 0;
    }
    [[nodiscard]] standing read(const book& at);
    void look(book& at);
    void came_to_zero(book& at, std::uint64_t turn);
    void expect_passed(book& at, std::uint64_t turn);
    void check_step(book& at, const std::vector<std::string>& command, const redis::reply& answer);
    [[nodiscard]] bool must_have_ended(const wait& of) const;
    void check_count(const book& at, std::int64_t listeners);

    scheduler& world_;
    simulated_network& network_;
    const plan& plan_;
    const failing fail_;
    const is_awake awake_;
    std::map<std::string, book> books_;
    std::map<std::pair<std::size_t, std::string>, book*> by_key_;
    std::map<wait_id, wait> waits_;
    wait_id made_ = 0;
    instant healed_{};
};

}  // namespace pawl::simulation
