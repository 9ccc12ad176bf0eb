// What the objects of the blocking face ask of the loop, which stays where it is when its client is
// moved.
#pragma once

#include "question.hpp"
#include "ways.hpp"

#include <pawl/blocking.hpp>

#include <stop_token>
#include <string_view>

namespace pawl::blocking {

// As client::acquire and try_acquire, or those of a lock_owner.
held_lock take(const std::shared_ptr<loop>& home, std::string_view name, const core::request& how,
               const std::stop_token& cancel = {}, const std::shared_ptr<core::owner>& who = {});

// As held_lock's.
void renew(const std::shared_ptr<loop>& home, const std::shared_ptr<core::lease>& one);
void downgrade(const std::shared_ptr<loop>& home, const std::shared_ptr<core::lease>& one);

}  // namespace pawl::blocking
