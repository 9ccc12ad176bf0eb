#include "permits.hpp"

#include <algorithm>

namespace pawl::core {
namespace {

std::string has(const claim& what, std::uint32_t all) {
    return "The semaphore '" + what.name + "' has " + permits_text(all) + ", ";
}

// A name may have spaces.
std::string change(const claim& what, std::uint32_t to) {
    return "change that with `pawl resize '" + what.name + "' " + std::to_string(to) + "`.";
}

}  // namespace

std::string permits_text(std::uint32_t count) {
    return std::to_string(count) + (count == 1 ? " permit" : " permits");
}

error nobody_said(const claim& what) {
    return {errc::bad_option,
            "Nobody has said how many permits '" + what.name + "' has; say it once with `of`."};
}

error other_number(const claim& what, std::uint32_t kept) {
    return {errc::bad_option,
            has(what, kept) + "not " + std::to_string(what.of) + "; " + change(what, what.of)};
}

error too_many(const claim& what, std::uint32_t all) {
    return {errc::bad_option, has(what, all) + "and you ask for " + std::to_string(what.permits) +
                                  "; ask for fewer, or " + change(what, what.permits)};
}

std::uint32_t permits_in_all(const claim& what, std::uint32_t kept) {
    const auto all = kept != 0 ? kept : what.of;
    if (all == 0) throw nobody_said(what);
    if (what.of != 0 && what.of != all) throw other_number(what, all);
    if (what.permits > all) throw too_many(what, all);
    return all;
}

void count_free(lock_info& what) noexcept {
    if (what.free_permits || what.permits == 0) return;
    std::uint64_t out = 0;
    const auto add = [&](const holder& each) {
        out += each.mode == lock_mode::permits ? each.permits : what.permits;
    };
    if (what.held_by) add(*what.held_by);
    for (const holder& each : what.others)
        add(each);
    const auto most = std::min<std::uint64_t>(out, what.permits);
    what.free_permits = what.permits - static_cast<std::uint32_t>(most);
}

}  // namespace pawl::core
