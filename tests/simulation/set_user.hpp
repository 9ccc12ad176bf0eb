// A user who takes two to four names at once, or none of them (acquire_all), with an owner of its
// own or without, while others take the same names one by one.
#pragma once

#include "inhabitant.hpp"
#include "wrong_set.hpp"

#include <pawl/held_locks.hpp>
#include <pawl/lock_owner.hpp>

#include <optional>
#include <vector>

namespace pawl::simulation {

class set_user final : public inhabitant {
public:
    set_user(program& home, std::string label, prng chance);

private:
    void ask() override;
    void forget() override;
    void choose_names();
    // To the checker.
    [[nodiscard]] std::vector<std::string> known_as() const {
        return home_.around().at.known_as(sorted_);
    }
    [[nodiscard]] lock_options wishes();
    // Its owner has one of them already, and enters it again.
    void ask_for_first();
    void first_answered(const boost::system::error_code& ec, held_lock one);
    void ask_for_all();
    void send(const lock_options& options);
    void answered(const boost::system::error_code& ec, held_locks all);
    [[nodiscard]] bool may_fail_together(const boost::system::error_code& ec) const;
    void take_over(held_locks all);
    [[nodiscard]] checker::tenure_id enter_again(const held_lock& one);
    void work();
    void work_on(const held_lock& one, checker::tenure_id& its);
    void give_back();
    void given_back(release_result found);
    void let_go();
    void give_back_first();
    void no_more_tenures();

    const bool owns_;  // asks through an owner: never in one request
    std::optional<lock_owner> owner_;

    // The present question: names in the caller's order, one perhaps twice, and what was known.
    std::vector<std::string> names_;
    std::vector<checker::question> questions_;  // of `sorted_`
    std::vector<std::string> sorted_;
    lock_options options_;
    instant began_{};                                // to ask for the first of them
    time_point began_at_{};                          // by the program's clock
    std::vector<std::shared_ptr<wrong_set>> wrong_;  // with what they forgot

    // What is held.
    held_locks set_;
    std::vector<checker::tenure_id> tenures_;
    std::vector<checker::given_up> tokens_;
    bool sure_ = false;
    held_lock first_;
    checker::tenure_id first_tenure_ = 0;
};

}  // namespace pawl::simulation
