// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "owner_records.hpp"

#include "../common/values.hpp"
#include "calls/acquire_calls.hpp"

namespace asio = boost::asio;

namespace pawl::redis::native {

owner_record::owner_record(keys keys_of_lock, std::string_view client, std::string_view owner,
                           std::string_view prefix_without_owner) {
    assign(std::move(keys_of_lock), client, owner, prefix_without_owner);
}

void owner_record::assign(keys keys_of_lock, std::string_view client, std::string_view owner,
                          std::string_view prefix_without_owner) {
    lock_keys = std::move(keys_of_lock);
    kept_value.clear();
    owner_begin_ = client.size() + 1;
    owner_size_ = owner.size();
    text_.clear();
    text_.reserve(owner_begin_ + owner_size_ + prefix_without_owner.size());
    text_ += client;
    text_ += ':';
    text_ += owner;
    text_ += prefix_without_owner;
}

owner_records::owner_records(lock_scripts& scripts, std::string client, const identity& process)
    : scripts_(scripts),
      client_(std::move(client)),
      prefix_without_owner_(make_value_prefix("", client_, process)) {}

std::shared_ptr<owner_record> owner_records::make_record(std::string_view name,
                                                         std::string_view owner) const {
    return std::make_shared<owner_record>(scripts_.scheme().keys_of(name), client_, owner,
                                          prefix_without_owner_);
}

// The undo refers to the record, so both are used again together, and only if no other owner of the
// record is left.
owner_records::prepared_attempt owner_records::prepare_attempt(std::string_view name,
                                                               std::string_view owner) {
    auto attempt = std::exchange(spare_attempt_, {});
    if (attempt.undo.empty() || attempt.record.use_count() != 2) {
        attempt.record = make_record(name, owner);
        attempt.undo = undo_queue::prepare(leave_of(attempt.record));
        return attempt;
    }
    attempt.record->assign(scripts_.scheme().keys_of(name, attempt.record->take_key_text()),
                           client_, owner, prefix_without_owner_);
    attempt.undo.front().action.lock = attempt.record->lock_keys.lock();
    return attempt;
}

// The undo names one owner, so it affects only the requests of this owner.
undo_queue::undo owner_records::leave_of(std::shared_ptr<const owner_record> record) {
    undo_queue::undo undo;
    undo.lock = record->lock_keys.lock();
    undo.send = [this, record = std::move(record)](time_point deadline) {
        return send_leave(record, deadline);
    };
    return undo;
}

asio::awaitable<reply> owner_records::send_leave(std::shared_ptr<const owner_record> record,
                                                 time_point give_up_at) {
    const leave_call call{record->lock_keys, record->member(), record->value_prefix(),
                          record->kept_value};
    auto server_reply = co_await scripts_.run(record->lock_keys, call, give_up_at);
    if (server_reply.type != reply::kind::error) (void)call.read(server_reply);
    co_return server_reply;
}

}  // namespace pawl::redis::native
