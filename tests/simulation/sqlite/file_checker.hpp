// What must be true in every world of the SQLite backend.
#pragma once

#include "host.hpp"

#include <pawl/backend.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace pawl::simulation {

class file_checker {
public:
    explicit file_checker(const host_clock& clock) : clock_(clock) {}

    // What a program believes to hold.
    struct belief {
        std::size_t program = 0;
        claim what;
        std::uint64_t token = 0;
        time_point deadline{};
        // Its file was replaced or the lock forced: others may have it, and it is to be told.
        bool excused = false;
    };

    // The newest token of the name that anybody had been given, when a program asks for it.
    [[nodiscard]] std::uint64_t newest(const std::string& name) { return newest_[name]; }

    void granted(std::size_t program, const claim& what, std::uint64_t token, time_point deadline,
                 std::uint64_t newest_when_asked);
    void renewed(const std::string& owner, renewal::outcome result, time_point deadline);
    void released(const std::string& owner, release_result result);
    void downgraded(const std::string& owner, bool still_ours, time_point deadline);
    // A step of this program went through: by now it knows of a file that was replaced.
    void went_through(std::size_t program);
    // The program was told, by the store or by whoever forced the release.
    void told_of_loss(const std::string& owner);
    void crashed(std::size_t program);

    void forced(const std::string& name);
    // Living programs have to notice.
    void file_replaced(bool under_living_programs);
    // The counter of the file may be older than what was issued.
    void counter_may_be_old();
    void wall_set_back();

    // The count that a latch must have; empty: nobody can know.
    void latch_is(std::optional<std::uint64_t> count) { latch_ = count; }
    void latch_seen(std::uint64_t count);
    [[nodiscard]] std::optional<std::uint64_t> latch() const noexcept { return latch_; }

    [[nodiscard]] std::list<belief>& beliefs() noexcept { return beliefs_; }
    void fail(const std::string& rule);
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

    std::uint64_t grants = 0;
    std::uint64_t losses_told = 0;

    static constexpr std::uint32_t permits_in_all = 3;

private:
    [[nodiscard]] bool believes(const belief& one) const {
        return !one.excused && one.deadline > clock_.now();
    }
    [[nodiscard]] std::list<belief>::iterator find(const std::string& owner);
    void check_token(const belief& one, std::uint64_t newest_when_asked);
    void check_alone(const belief& one);

    struct issued {
        std::string name;
        bool to_readers = false;
        int life = 0;  // of the file
    };

    const host_clock& clock_;
    std::list<belief> beliefs_;
    std::map<std::string, std::uint64_t> newest_;
    std::map<std::uint64_t, issued> tokens_;
    std::uint64_t highest_ = 0;
    int life_ = 0;
    bool counter_is_old_ = false;
    bool tokens_excused_ = false;
    std::optional<std::uint64_t> latch_;
    std::string violation_;
};

}  // namespace pawl::simulation
