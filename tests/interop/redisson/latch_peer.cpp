#include "latch_peer.hpp"

#include <pawl/blocking_latch.hpp>

namespace interop {

std::string serve_latch(pawl::blocking::client& locks, const std::string& verb,
                        const std::string& name, std::istream& words) {
    if (!verb.starts_with("latch_")) return {};
    pawl::blocking::latch one(locks, name);
    std::uint32_t number = 0;
    words >> number;
    if (verb == "latch_set") return one.try_set(number) ? "set true" : "set false";
    if (verb == "latch_down") {
        // Java's takes one at a time; two at once are Pawl's own.
        for (; number > 2; --number)
            one.count_down();
        one.count_down(number);
        return "counted";
    }
    if (verb == "latch_count") return "count " + std::to_string(one.inspect().count);
    if (verb == "latch_wait")
        return one.wait_for(std::chrono::milliseconds(number)) ? "open" : "late";
    if (verb == "latch_delete") return one.reset() ? "deleted true" : "deleted false";
    return "unknown command " + verb;
}

}  // namespace interop
