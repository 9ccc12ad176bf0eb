// A user who sets latches, takes their steps, and now and then looks at one or takes it away.
#pragma once

#include "inhabitant.hpp"

#include <pawl/latch.hpp>

namespace pawl::simulation {

class latch_user final : public inhabitant {
public:
    latch_user(program& home, std::string label, prng chance, bool redisson);

private:
    void ask() override;
    void forget() override {}
    void set(latch& at);
    void step(latch& at);
    void answered(const boost::system::error_code& ec, bool took_step);

    const bool redisson_;  // Redisson's latch of that name
    const std::string known_as_;
    instant asked_{};
};

}  // namespace pawl::simulation
