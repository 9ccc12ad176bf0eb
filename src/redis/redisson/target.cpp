#include "target.hpp"

#include "redisson_scripts.hpp"

#include "../lock_base.hpp"

#include <pawl/error.hpp>

namespace pawl::redis::redisson {
namespace {

std::string channel_of(kind what, const names& keys, const std::string& owner) {
    switch (what) {
    case kind::fair: return keys.channel + ":" + owner;
    case kind::read:
    case kind::write: return keys.rw_channel;
    case kind::permits:
    case kind::semaphore: return keys.sc_channel;
    default: return keys.channel;
    }
}

}  // namespace

kind kind_of(const claim& what, redisson_object object) {
    const bool readwrite = object == redisson_object::readwrite;
    if (what.fair && (readwrite || what.mode != lock_mode::exclusive))
        throw error(errc::unsupported,
                    "Of Redisson's objects only the lock can be strictly fair; leave out `fair`, "
                    "or layout=redisson.");
    switch (what.mode) {
    case lock_mode::permits:
        return object == redisson_object::semaphore ? kind::semaphore : kind::permits;
    case lock_mode::shared:
        if (!readwrite)
            throw error(errc::unsupported, "'" + what.name +
                                               "' is to be shared; add object=readwrite to the URL "
                                               "for Redisson's ReadWriteLock.");
        return kind::read;
    default: break;
    }
    if (readwrite) return kind::write;
    return what.fair ? kind::fair : kind::lock;
}

target::target(const claim& claimed, kind as, names under, std::string by)
    : what(as),
      keys(std::move(under)),
      owner(std::move(by)),
      channel(channel_of(what, keys, owner)),
      ttl(claimed.ttl),
      ttl_ms(milliseconds(ttl)),
      permits(std::to_string(claimed.permits)),
      of(std::to_string(claimed.of)),
      fenced(claimed.fenced) {
    if (what == kind::read) own_key = keys.lease_of(owner);
    if (what == kind::semaphore) own_key = keys.receipt_of(owner);
}

std::vector<std::string_view> target::script_keys() const {
    switch (what) {
    case kind::fair: return {keys.lock, keys.queue, keys.timeouts, keys.seen};
    case kind::permits: return {keys.lock, keys.lent};
    case kind::read:
    case kind::semaphore: return {keys.lock, own_key};
    case kind::write: return {keys.lock};
    default: return {keys.lock, keys.queue};
    }
}

std::string_view target::renewal_key() const {
    if (what == kind::permits) return keys.lent;
    return own_key.empty() ? keys.lock : own_key;
}

// Permits without a lease do not come back by themselves; their receipt lasts for a day.
duration target::owed() const noexcept {
    return what == kind::semaphore ? ttl + std::chrono::hours(24) : ttl;
}

const std::string& target::release_channel() const {
    return what == kind::fair ? keys.channel : channel;
}

const script& acquire_script(kind what) noexcept {
    switch (what) {
    case kind::fair: return scripts::fair_acquire;
    case kind::read: return scripts::read_acquire;
    case kind::write: return scripts::write_acquire;
    case kind::permits: return scripts::permits_acquire;
    case kind::semaphore: return scripts::semaphore_acquire;
    default: return scripts::acquire;
    }
}

const script& release_script(kind what) noexcept {
    switch (what) {
    case kind::fair: return scripts::fair_release;
    case kind::read: return scripts::read_release;
    case kind::write: return scripts::write_release;
    case kind::permits: return scripts::permits_release;
    case kind::semaphore: return scripts::semaphore_release;
    default: return scripts::release;
    }
}

std::string_view to_string(kind what) noexcept {
    switch (what) {
    case kind::read: return "read";
    case kind::permits: return "permits";
    case kind::semaphore: return "semaphore";
    default: return "lock";
    }
}

}  // namespace pawl::redis::redisson
