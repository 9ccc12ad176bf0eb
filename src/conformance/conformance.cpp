#include "lists.hpp"

namespace pawl::conformance {

std::span<const promise> all_promises() noexcept {
    static const std::vector<promise> all = [] {
        std::vector<promise> result;
        for (const auto group :
             {exclusion_promises(), waiting_promises(), cancelling_promises(), lease_promises(),
              dead_holder_promises(), token_promises(), queue_promises(), ending_promises(),
              name_promises(), looking_promises(), mutex_promises(), crowd_promises()})
            result.insert(result.end(), group.begin(), group.end());
        return result;
    }();
    return all;
}

bool run_all(fixture& of, reporter& to) {
    bool all_kept = true;
    for (const promise& each : all_promises()) {
        if (!each.asked_of(of.promised())) continue;
        to.begins(each);
        try {
            each.run(of);
            to.kept(each);
        } catch (const std::exception& how) {
            all_kept = false;
            to.broke(each, how.what());
        }
    }
    return all_kept;
}

}  // namespace pawl::conformance
