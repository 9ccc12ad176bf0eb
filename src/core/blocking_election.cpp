#include <pawl/blocking_election.hpp>

#include "taking.hpp"

namespace pawl::blocking {

election::election(client& locks, std::string name, lock_options options)
    : loop_(locks.loop_), name_(std::move(name)), options_(options) {}

held_lock election::campaign(std::stop_token cancel) {
    return take(loop_, name_, {options_, {}}, cancel);
}

lock_info election::leader() { return ask(*loop_, loop_->engine->inspect(name_)); }

lock_info election::wait_change(fencing_token seen, duration interval, std::stop_token cancel) {
    return ask(*loop_, core::wait_change(loop_->engine, name_, seen, interval), cancel);
}

}  // namespace pawl::blocking
