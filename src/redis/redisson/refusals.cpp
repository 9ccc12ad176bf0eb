#include "refusals.hpp"

#include "../lock_base.hpp"
#include "../server_errors.hpp"

#include <pawl/error.hpp>

#include <array>

namespace pawl::redis::redisson {
namespace {

constexpr std::array words{"OTHERKIND lock", "OTHERKIND readwrite", "BADCOUNTER",
                           "NOPERMITS",      "OTHERCOUNT ",         "TOOMANY "};

// The words begin the reply, or follow the ERR that servers before 7 put there.
bool says(const reply& answer, std::string_view what) {
    return answer.what == reply::kind::error && answer.text.find(what) <= 4;
}

// The number at the end.
std::string count_in(const reply& answer) {
    return answer.text.substr(answer.text.find_last_of(' ') + 1);
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
    if (says(answer, "NOPERMITS"))
        throw error(errc::bad_option, "Nobody has said how many permits '" + what.name +
                                          "' has; say it once with `of`.");
    if (says(answer, "OTHERCOUNT "))
        throw error(errc::bad_option, "The semaphore '" + what.name + "' has " + count_in(answer) +
                                          " permits, not " + std::to_string(what.of) +
                                          "; change that with resize.");
    if (says(answer, "TOOMANY "))
        throw error(errc::bad_option, "The semaphore '" + what.name + "' has only " +
                                          count_in(answer) + " permits, and you ask for " +
                                          std::to_string(what.permits) + "; ask for fewer.");
}

}  // namespace pawl::redis::redisson
