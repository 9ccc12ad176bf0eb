// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/error.hpp>
#include <pawl/held_locks.hpp>

#include "../engine/engine.hpp"
#include "access.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

namespace asio = boost::asio;

namespace pawl {
namespace {

// Used on the strand.
struct joint_release {
    joint_release(std::size_t count, detail::release_handler on_finished)
        : remaining(count), handler(std::move(on_finished)) {}
    std::size_t remaining;
    detail::release_handler handler;
    release_result worst = release_result::released;
};

}  // namespace

detail::lease_ptr held_locks::first_lease() const {
    return core::access::id(handles.front()).lease;
}

std::vector<core::handle_id> held_locks::handle_ids() const {
    std::vector<core::handle_id> ids;
    ids.reserve(handles.size());
    for (const held_lock& each : handles)
        ids.push_back(core::access::id(each));
    return ids;
}

namespace detail {

void start_release_all(release_handler handler, lease_ptr first,
                       std::vector<core::handle_id> handles) {
    const auto& strand = first->owning_engine()->strand();
    // This object is created before the dispatch, so that std::bad_alloc is thrown to the caller.
    const auto pending = std::make_shared<joint_release>(handles.size(), std::move(handler));
    asio::dispatch(strand, [all = std::move(handles), pending] {
        for (const core::handle_id& each : all) {
            const auto& engine = each.lease->owning_engine();
            const auto on_released = [pending, engine](release_result result) {
                pending->worst = worse(pending->worst, result);
                if (--pending->remaining == 0)
                    asio::post(engine->handler_executor(),
                               asio::append(std::move(pending->handler), pending->worst));
            };
            engine->release(each, asio::bind_executor(engine->strand(), on_released));
        }
    });
}

}  // namespace detail
}  // namespace pawl
