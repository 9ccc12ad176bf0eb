// What changed between two looks at the locks, for `watch` where it cannot redraw.
#pragma once

#include <pawl/types.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pawl::cli {

struct change {
    // held: at the first look. taken: by who is alone there, or the first of several. joined, left:
    // beside others who stay. downgraded: its exclusive hold became a shared one.
    enum class kind { held, taken, joined, left, downgraded, freed, waiters, resized };
    kind what = kind::held;
    lock_info now;
    std::optional<holder> by;  // whom it is about
    std::uint64_t before = 0;  // waiters, or permits in all
};
[[nodiscard]] const char* to_string(change::kind what) noexcept;

class change_log {
public:
    // The first look reports everything that is held as `held`. In the order of the names.
    [[nodiscard]] std::vector<change> look(const std::vector<lock_info>& locks);

private:
    std::map<std::string, lock_info> before_;
    bool looked_ = false;
};

}  // namespace pawl::cli
