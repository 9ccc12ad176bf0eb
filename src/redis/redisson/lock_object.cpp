// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_object.hpp"

#include "../common/lock_base.hpp"

#include <pawl/error.hpp>

namespace pawl::redis::redisson {
namespace {

std::string channel_of(object_kind kind, const object_names& keys, const std::string& owner) {
    switch (kind) {
    case object_kind::fair: return keys.channel + ":" + owner;
    case object_kind::read:
    case object_kind::write: return keys.rw_channel;
    case object_kind::permits:
    case object_kind::semaphore: return keys.sc_channel;
    default: return keys.channel;
    }
}

}  // namespace

object_kind object_kind_of(const claim& requested, redisson_object object) {
    const bool readwrite = object == redisson_object::readwrite;
    if (requested.fair && (readwrite || requested.mode != lock_mode::exclusive))
        throw error(errc::unsupported,
                    "Of Redisson's objects only the lock can be strictly fair; leave out `fair`, "
                    "or layout=redisson.");
    switch (requested.mode) {
    case lock_mode::permits:
        return object == redisson_object::semaphore ? object_kind::semaphore : object_kind::permits;
    case lock_mode::shared:
        if (!readwrite)
            throw error(errc::unsupported, "'" + requested.name +
                                               "' is to be shared; add object=readwrite to the URL "
                                               "for Redisson's ReadWriteLock.");
        return object_kind::read;
    default: break;
    }
    if (readwrite) return object_kind::write;
    return requested.fair ? object_kind::fair : object_kind::lock;
}

lock_object::lock_object(const claim& requested, object_kind kind_of_object, object_names names,
                         std::string owner_field)
    : kind(kind_of_object),
      keys(std::move(names)),
      owner(std::move(owner_field)),
      channel(channel_of(kind, keys, owner)),
      ttl(requested.ttl),
      ttl_ms(milliseconds_text(ttl)),
      permits(std::to_string(requested.permits)),
      total_permits(std::to_string(requested.total_permits)),
      fenced(requested.fenced) {
    if (kind == object_kind::read) own_key = keys.lease_of(owner);
    if (kind == object_kind::semaphore) own_key = keys.receipt_of(owner);
}

std::string_view lock_object::renewal_key() const {
    if (kind == object_kind::permits) return keys.lent_permits;
    return own_key.empty() ? keys.lock : own_key;
}

// Permits without a lease never expire. Their receipt lasts for a day longer than the ttl.
duration lock_object::undo_period() const noexcept {
    return kind == object_kind::semaphore ? ttl + std::chrono::hours(24) : ttl;
}

const std::string& lock_object::release_channel() const {
    return kind == object_kind::fair ? keys.channel : channel;
}

std::string_view to_string(object_kind kind) noexcept {
    switch (kind) {
    case object_kind::read: return "read";
    case object_kind::permits: return "permits";
    case object_kind::semaphore: return "semaphore";
    default: return "lock";
    }
}

}  // namespace pawl::redis::redisson
