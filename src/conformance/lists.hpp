// The groups that `all_promises` is made of, and who is asked for what.
#pragma once

#include "toolbox.hpp"

#include <span>

namespace pawl::conformance {

inline bool everybody(const promises&) { return true; }
inline bool with_processes(const promises& promised) { return promised.across_processes; }
inline bool with_named_holders(const promises& promised) { return promised.names_holders; }
inline bool with_pushed_loss(const promises& promised) { return promised.loss_is_pushed; }
inline bool with_fencing(const promises& promised) { return promised.fencing; }
inline bool with_fencing_and_processes(const promises& promised) {
    return promised.fencing && promised.across_processes;
}

std::span<const promise> exclusion_promises() noexcept;
std::span<const promise> waiting_promises() noexcept;
std::span<const promise> cancelling_promises() noexcept;
std::span<const promise> lease_promises() noexcept;
std::span<const promise> dead_holder_promises() noexcept;
std::span<const promise> token_promises() noexcept;
std::span<const promise> queue_promises() noexcept;
std::span<const promise> ending_promises() noexcept;
std::span<const promise> name_promises() noexcept;
std::span<const promise> looking_promises() noexcept;
std::span<const promise> mutex_promises() noexcept;
std::span<const promise> crowd_promises() noexcept;
std::span<const promise> work_promises() noexcept;
std::span<const promise> owner_promises() noexcept;
std::span<const promise> several_promises() noexcept;
std::span<const promise> value_promises() noexcept;
std::span<const promise> election_promises() noexcept;
std::span<const promise> shared_promises() noexcept;
std::span<const promise> permits_promises() noexcept;
std::span<const promise> fair_promises() noexcept;
std::span<const promise> change_promises() noexcept;
std::span<const promise> shared_mutex_promises() noexcept;
std::span<const promise> latch_promises() noexcept;

}  // namespace pawl::conformance
