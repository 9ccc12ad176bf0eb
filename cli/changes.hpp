// What changed between two looks at the locks, for `watch` where it cannot redraw.
#pragma once

#include <pawl/types.hpp>

#include <map>
#include <string>
#include <vector>

namespace pawl::cli {

struct change {
    enum class kind { held, taken, freed, waiters };
    kind what = kind::held;
    lock_info now;
    std::uint64_t waiters_before = 0;
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
