#include "refusals.hpp"

#include "../lock_base.hpp"
#include "../server_errors.hpp"

#include "../../core/permits.hpp"

#include <pawl/error.hpp>

#include <array>
#include <charconv>
#include <limits>

namespace pawl::redis::redisson {
namespace {

constexpr std::array words{"OTHERKIND ", "BADCOUNTER", "NOPERMITS", "OTHERCOUNT ", "TOOMANY "};

// The words begin the reply, or follow the ERR that servers before 7 put there.
bool says(const reply& answer, std::string_view what) {
    return answer.what == reply::kind::error && answer.text.find(what) <= 4;
}

// The number at the end.
std::uint32_t count_in(const reply& answer) {
    const auto digits = std::string_view(answer.text).substr(answer.text.find_last_of(' ') + 1);
    std::uint32_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

}  // namespace

bool refused_by_script(const reply& answer) {
    if (of_another_type(answer)) return true;
    for (const auto* one : words) {
        if (says(answer, one)) return true;
    }
    return false;
}

void refuse(const reply& answer, const names& keys) {
    if (says(answer, "OTHERKIND lock"))
        throw error(errc::wrong_type,
                    keys.lock +
                        ": is held as a lock of Redisson, not as a ReadWriteLock; leave out "
                        "object=readwrite, or choose another name.");
    if (says(answer, "OTHERKIND readwrite"))
        throw error(errc::wrong_type,
                    keys.lock +
                        ": is held as a ReadWriteLock of Redisson; add object=readwrite to "
                        "the URL, or choose another name.");
    if (says(answer, "OTHERKIND semaphore"))
        throw error(errc::wrong_type,
                    keys.lock +
                        ": is a semaphore in Redisson's layout, or another object that is kept as "
                        "a number, and no lock; ask for permits of it, with object=semaphore in "
                        "the URL for Redisson's Semaphore, or choose another name.");
    if (says(answer, "OTHERKIND other"))
        throw error(errc::wrong_type,
                    keys.lock +
                        ": is no semaphore in Redisson's layout, but a lock or something else; "
                        "ask for no permits of it, or choose another name.");
    if (says(answer, "BADCOUNTER"))
        throw error(errc::wrong_type, keys.counter +
                                          ": the counter of the tokens holds something else; "
                                          "delete that key, or ask without a token.");
    if (of_another_type(answer))
        throw error(errc::wrong_type,
                    keys.lock +
                        ": holds something that is no such lock or semaphore of Redisson; for a "
                        "lock of Pawl's native layout or another SET NX PX library leave out "
                        "layout=redisson, for another program's data choose another name.");
    refuse_errors(answer, keys.lock);
}

void refuse_count(const reply& answer, const claim& what) {
    if (says(answer, "NOPERMITS")) throw core::nobody_said(what);
    if (says(answer, "OTHERCOUNT ")) throw core::other_number(what, count_in(answer));
    if (says(answer, "TOOMANY ")) throw core::too_many(what, count_in(answer));
}

void refuse_huge_count(std::uint32_t permits) {
    constexpr auto most = std::numeric_limits<std::int32_t>::max();
    if (permits > most)
        throw error(errc::bad_option, "Redisson counts no further than " + std::to_string(most) +
                                          " permits; " + std::to_string(permits) +
                                          " are too many.");
}

void refuse_many_entries(const claim& what) {
    constexpr std::uint32_t most = 10'000;
    if (what.permits > most)
        throw error(errc::bad_option,
                    "Redisson's expirable semaphore has an entry for each permit that is lent; ask "
                    "for at most " +
                        std::to_string(most) + " at once, not " + std::to_string(what.permits) +
                        ".");
}

}  // namespace pawl::redis::redisson
