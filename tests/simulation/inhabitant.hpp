// What every user of a simulated program has in common: asks, now and then gives up, rests, until
// its program ends.
#pragma once

#include "program.hpp"

#include <pawl/options.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace pawl::simulation {

class inhabitant {
public:
    inhabitant(program& home, std::string label, prng chance);
    virtual ~inhabitant() = default;
    inhabitant(const inhabitant&) = delete;
    inhabitant& operator=(const inhabitant&) = delete;

    void start();
    // No new question after the present one.
    void finish();
    [[nodiscard]] bool finished() const noexcept { return resting_ && finishing_; }
    // Its program is dead, or ends: what comes is not its business any more.
    void die();
    // What it waits for may never come: all that could bring it about have finished.
    virtual void stop_waiting() {}

protected:
    enum class kind : std::uint8_t { once, limited, endless };

    virtual void ask() = 0;
    // Its memory goes with the client's; nobody sees a release of what it holds.
    virtual void forget() = 0;

    template <class Self>
    void later(instant delay, Self* self, void (Self::*what)()) {
        home_.around().world.after(delay, [this, self, what] {
            home_.home().post([this, self, what] {
                const own_bookkeeping uncounted;
                if (!dead_) (self->*what)();
            });
        });
    }
    // A handler of the user's own: what it allocates is no business of the library's.
    template <class F>
    static auto own(F work) {
        return [work = std::move(work)](auto&&... answers) mutable {
            const own_bookkeeping uncounted;
            work(std::forward<decltype(answers)>(answers)...);
        };
    }
    void rest();
    // Of a new question: how long it is to be waited for.
    void choose_kind();
    // And that it is under way now.
    void begin();
    void plan_cancel();
    // Gives up the present question.
    void give_up();
    [[nodiscard]] bool may_fail(const boost::system::error_code& ec) const;
    // Ttl, wait, max_hold and whether there is a token.
    [[nodiscard]] lock_options plain_wishes();
    // When what was given is to be given back.
    void choose_end(duration ttl);
    // The next moment at which it works on what it holds.
    [[nodiscard]] instant next_step();
    void say(const std::string& what) const;
    [[nodiscard]] instant world_now() const { return home_.around().world.now(); }
    [[nodiscard]] std::string known(std::string_view name) const {
        return home_.around().at.known_as(name);
    }
    [[nodiscard]] checker& judge() const { return home_.around().judge; }
    [[nodiscard]] const habits& ways() const { return home_.around().what.users; }
    // Nothing held up its program so far, and it was never short of anything.
    [[nodiscard]] bool never_stopped() const {
        return home_.home().resumed_at() == instant{} && !home_.home().has().ever_short();
    }

    program& home_;
    const std::string label_;
    prng chance_;
    bool finishing_ = false;
    bool dead_ = false;

    // The present question.
    kind kind_{};
    duration wait_{};
    time_point asked_at_{};
    bool waiting_ = false;
    bool cancelled_ = false;
    std::unique_ptr<boost::asio::cancellation_signal> signal_;
    instant until_{};

private:
    void cancel();
    [[nodiscard]] duration ttl();

    bool resting_ = true;
    std::uint64_t number_ = 0;
    std::uint64_t cancel_number_ = 0;
};

}  // namespace pawl::simulation
