// What can go wrong. Somebody else holding the lock is not among it: that is an answer.
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Pawl needs C++20: compile with -std=c++20"
#endif

#include <stdexcept>
#include <string>
#include <system_error>

namespace pawl {

enum class errc {
    timed_out = 1,  // not ours within the given time
    cancelled,      // the caller gave up, or the client was closed; nothing of ours stays behind
    lost,           // the lock ended before the caller gave it back
    unreachable,    // no service there, or it stopped answering
    refused,  // the service answered, and will not serve us: password, permission, read-only …
    unavailable,  // the service answered that it cannot serve anybody now: loading, out of memory …
    wrong_type,   // the lock's key holds something that is no lock of this layout
    bad_name,     // 1 to 512 bytes, no control characters
    bad_option,   // a ttl, wait or other option that is out of its range
    bad_url,      // unknown scheme, option or port
    unsupported,  // this backend cannot promise that
    protocol,     // the service answered something that this protocol does not know
    exhausted,    // this program has no more threads, file descriptors or timers
    not_held,     // the handle is empty: std::errc::operation_not_permitted
    deadlock      // the caller would wait for itself: std::errc::resource_deadlock_would_occur
};

const std::error_category& error_category() noexcept;
std::error_code make_error_code(errc code) noexcept;

// Carries one sentence for a person: what happened, where, and what to do next. Never a password.
class error : public std::system_error {
public:
    error(errc code, const std::string& sentence);
    [[nodiscard]] errc reason() const noexcept { return reason_; }
    // The sentence alone.
    [[nodiscard]] const char* what() const noexcept override { return sentence_.what(); }

private:
    errc reason_;
    std::runtime_error sentence_;  // copies without throwing, as an exception must
};

}  // namespace pawl

template <>
struct std::is_error_code_enum<pawl::errc> : std::true_type {};
