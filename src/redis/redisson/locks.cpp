#include "locks.hpp"

#include "../../core/chance.hpp"

namespace pawl::redis::redisson {
namespace {

// A random UUID, of version 4.
std::string random_uuid(runtime& time) {
    auto text = core::random_hex(time, 16);
    text[12] = '4';
    text[16] = "89ab"[text[16] % 4];
    for (const auto at : {20u, 16u, 12u, 8u})
        text.insert(at, 1, '-');
    return text;
}

}  // namespace

std::unique_ptr<backend> make_backend(const options& where, const backend_context& context,
                                      const link_factory& connect, const limits& bounds) {
    return std::make_unique<locks>(where, context, connect, bounds);
}

locks::locks(const options& where, backend_context context, const link_factory& connect,
             const limits& bounds)
    : lock_base(where, std::move(context), connect, "", bounds),
      naming_(where_.key),
      client_(random_uuid(time())),
      latches_(where_, context_, naming_, *link_, bounds_) {}

void locks::on_message(std::string_view channel, std::string_view payload) {
    latches_.on_message(channel, payload);
    const auto [begin, end] = waiting_.equal_range(channel);
    for (auto at = begin; at != end; ++at)
        at->second->woken.ring();
}

// What was published meanwhile is gone: every waiter looks.
void locks::on_connected(const session&) {
    undos_->try_now();
    latches_.on_connected();
    for (const auto& [channel, one] : waiting_)
        one->woken.ring();
}

// A token is the counter that Java counts with, no clock behind it. A release frees the lock and
// tells all who wait, of a fair one the first: it has to ask again. An owner is a UUID and a
// number.
promises locks::promised() const noexcept {
    promises made;
    made.survives_restart = made.names_holders = made.hands_over = made.one_line = false;
    made.order = fairness::none;
    made.permits = made.latches = true;
    made.shared = made.downgrades = where_.object == redisson_object::readwrite;
    made.strictly_fair = !made.shared;
    return made;
}

std::string locks::way_to(lock_mode mode, bool fair) const {
    if (mode == lock_mode::shared && !fair)
        return "set object=readwrite in the URL, for Redisson's ReadWriteLock";
    if (mode == lock_mode::exclusive && fair)
        return "leave object=readwrite out of the URL, since of Redisson's objects only the lock "
               "can be strictly fair";
    return "of Redisson's objects only the lock can be strictly fair, and it is held alone";
}

}  // namespace pawl::redis::redisson
