// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/error.hpp>

namespace pawl {
namespace {

class category final : public std::error_category {
public:
    const char* name() const noexcept override { return "pawl"; }

    std::string message(int code) const override {
        switch (static_cast<errc>(code)) {
        case errc::timed_out: return "the lock was not free in time";
        case errc::cancelled: return "the operation was cancelled";
        case errc::lost: return "the hold was lost, or has ended";
        case errc::unreachable: return "the lock service cannot be reached";
        case errc::refused: return "the lock service refuses this client";
        case errc::unavailable: return "the lock service cannot serve anybody now";
        case errc::no_quorum: return "fewer than a majority of the lock servers agreed";
        case errc::wrong_type: return "the key has a value that is no lock of this layout";
        case errc::bad_name: return "the name is not valid";
        case errc::bad_option: return "an option is not valid";
        case errc::bad_url: return "the URL is not valid";
        case errc::unsupported: return "the lock service cannot do that";
        case errc::protocol: return "the lock service sent an unexpected reply";
        case errc::exhausted: return "this program lacks threads, descriptors, timers or memory";
        case errc::not_held: return "the handle is empty, or this thread has no hold";
        case errc::deadlock: return "the caller would wait for itself";
        case errc::not_durable: return "too few copies of the lock were made in time";
        case errc::no_set: return "the nodes of Redlock form no set that grants locks";
        case errc::other_set: return "the nodes of Redlock belong to another set";
        }
        return "unknown error " + std::to_string(code);
    }

    std::error_condition default_error_condition(int code) const noexcept override {
        switch (static_cast<errc>(code)) {
        case errc::timed_out: return std::errc::timed_out;
        case errc::cancelled: return std::errc::operation_canceled;
        case errc::lost: return std::errc::owner_dead;
        case errc::unreachable: return std::errc::host_unreachable;
        case errc::refused: return std::errc::permission_denied;
        case errc::unavailable:
        case errc::no_quorum:
        case errc::not_durable:
        case errc::no_set:
        case errc::exhausted: return std::errc::resource_unavailable_try_again;
        case errc::not_held: return std::errc::operation_not_permitted;
        case errc::deadlock: return std::errc::resource_deadlock_would_occur;
        case errc::bad_name:
        case errc::bad_option:
        case errc::other_set:
        case errc::bad_url: return std::errc::invalid_argument;
        case errc::unsupported: return std::errc::operation_not_supported;
        case errc::wrong_type:
        case errc::protocol: return std::errc::protocol_error;
        }
        return {code, *this};
    }
};

// By their nature; a backend may know better.
bool may_pass(errc code) noexcept {
    return code == errc::unreachable || code == errc::unavailable || code == errc::no_quorum ||
           code == errc::no_set;
}

}  // namespace

const std::error_category& error_category() noexcept {
    static const category instance;
    return instance;
}

std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), error_category()};
}

error::error(errc code, const std::string& sentence) : error(code, sentence, may_pass(code)) {}

error::error(errc code, const std::string& sentence, bool is_transient,
             std::optional<time_point> retry_at)
    : std::system_error(make_error_code(code)),
      reason_(code),
      is_transient_(is_transient),
      retry_at_(retry_at),
      sentence_(sentence) {}

}  // namespace pawl
