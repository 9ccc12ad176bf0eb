// Several locks as one. Standard headers only.
#pragma once

#include <pawl/types.hpp>

#include <algorithm>
#include <list>
#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl {

// Throws errc::not_held.
[[noreturn]] void refuse_empty_handle();

// The worse of what two releases found: still held, unknown, expired, taken over.
[[nodiscard]] release_result worse(release_result a, release_result b) noexcept;

// `held_locks`, sync and async API: handles in the order of their names, each once. Move-only;
// empty when default-made or moved from. Dropping it gives all back in the background.
template <class Handle>
class lock_set {
public:
    lock_set() noexcept = default;
    explicit lock_set(std::vector<Handle> locks)
        : handles(std::move(locks)), loss_(std::make_unique<joint_loss>()) {
        for (const Handle& each : handles)
            loss_->told.emplace_back(each.lost(), relay{loss_->all});
    }

    // Not of a temporary, which gives all back at once.
    explicit operator bool() const& noexcept { return !handles.empty(); }
    explicit operator bool() const&& = delete;
    [[nodiscard]] std::size_t size() const noexcept { return handles.size(); }
    [[nodiscard]] auto begin() const noexcept { return handles.begin(); }
    [[nodiscard]] auto end() const noexcept { return handles.end(); }

    // The token of one of them; none for a name that is not among them.
    [[nodiscard]] fencing_token token(std::string_view name) const noexcept {
        const auto found = std::find_if(begin(), end(),
                                        [name](const Handle& each) { return each.name() == name; });
        return found == end() ? fencing_token{} : found->token();
    }

    // False for an empty set; the rest throws errc::not_held there. The loss of one is the loss of
    // the whole; the others stay taken until they are given back, for work that has to come to its
    // end.
    [[nodiscard]] bool owns_lock() const noexcept {
        return !handles.empty() &&
               std::all_of(begin(), end(), [](const Handle& each) { return each.owns_lock(); });
    }
    [[nodiscard]] lock_state state() const {
        refuse_empty();
        auto worst = lock_state::held;
        for (const Handle& each : handles) {
            const auto its = each.state();
            if (its == lock_state::lost) return its;
            worst = std::max(worst, its);
        }
        return worst;
    }
    // Of the first one that is lost.
    [[nodiscard]] loss_reason why_lost() const {
        refuse_empty();
        for (const Handle& each : handles)
            if (each.why_lost() != loss_reason::none) return each.why_lost();
        return loss_reason::none;
    }
    // The earliest of all.
    [[nodiscard]] time_point safe_until() const {
        refuse_empty();
        auto until = time_point::max();
        for (const Handle& each : handles)
            until = std::min(until, each.safe_until());
        return until;
    }
    [[nodiscard]] std::stop_token lost() const {
        refuse_empty();
        for (const Handle& each : handles)
            if (each.state() == lock_state::lost) return each.lost();
        return loss_->all.get_token();
    }

protected:
    void refuse_empty() const {
        if (handles.empty()) refuse_empty_handle();
    }

    std::vector<Handle> handles;

private:
    struct relay {
        std::stop_source all;
        void operator()() const noexcept {
            auto mine = all;  // a callback may drop the set, and this with it
            mine.request_stop();
        }
    };
    struct joint_loss {
        std::stop_source all;
        std::list<std::stop_callback<relay>> told;
    };
    std::unique_ptr<joint_loss> loss_;
};

}  // namespace pawl
