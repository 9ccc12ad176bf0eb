#include <pawl/error.hpp>
#include <pawl/held_locks.hpp>

#include "engine.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

namespace asio = boost::asio;

namespace pawl {
namespace {

int badness(release_result found) noexcept {
    switch (found) {
    case release_result::released: return 0;
    case release_result::still_held: return 1;
    case release_result::unknown: return 2;
    case release_result::expired: return 3;
    case release_result::taken_over: return 4;
    }
    return 4;
}

// On the strand.
struct gathering {
    gathering(std::size_t all, held_lock::release_handler then)
        : left(all), done(std::move(then)) {}
    std::size_t left;
    held_lock::release_handler done;
    release_result found = release_result::released;
};

}  // namespace

void refuse_empty_handle() {
    throw error(errc::not_held,
                "This handle holds no lock: it is empty, was moved from, or is of a try that found "
                "the lock taken; ask `owns_lock()` first.");
}

release_result worse(release_result a, release_result b) noexcept {
    return badness(b) > badness(a) ? b : a;
}

void held_locks::start_release(std::vector<share> all, held_lock::release_handler done) {
    const auto& strand = all.front().lease->home()->strand();
    // Made here, where a lack of memory is the caller's to hear of.
    const auto so_far = std::make_shared<gathering>(all.size(), std::move(done));
    asio::dispatch(strand, [all = std::move(all), so_far] {
        for (const share& each : all) {
            const auto& home = each.lease->home();
            const auto one = [so_far, home](release_result found) {
                so_far->found = worse(so_far->found, found);
                if (--so_far->left == 0)
                    asio::post(home->outside(),
                               asio::append(std::move(so_far->done), so_far->found));
            };
            home->release({each.lease, each.number}, asio::bind_executor(home->strand(), one));
        }
    });
}

}  // namespace pawl
