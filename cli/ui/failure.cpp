// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "failure.hpp"

#include <cerrno>
#include <cstring>
#include <new>

namespace pawl::cli {

failure system_failure(const std::string& context) {
    const int code = errno;
    return failure(exit_code::system, context + ": " + std::strerror(code) + ".");
}

exit_code code_for(errc reason) noexcept {
    switch (reason) {
    case errc::timed_out:
    case errc::cancelled: return exit_code::timed_out;
    case errc::lost: return exit_code::lost;
    case errc::unreachable:
    case errc::unavailable:
    case errc::no_quorum:
    case errc::not_durable:
    case errc::protocol: return exit_code::unreachable;
    case errc::no_set:
    case errc::other_set: return exit_code::no_set;
    case errc::refused: return exit_code::refused;
    case errc::wrong_type: return exit_code::wrong_data;
    case errc::bad_name:
    case errc::bad_option:
    case errc::bad_url:
    case errc::deadlock:
    case errc::unsupported: return exit_code::usage;
    case errc::exhausted:
    case errc::not_held: return exit_code::system;
    }
    return exit_code::system;
}

int report_current() noexcept {
    try {
        throw;
    } catch (const failure& problem) {
        say(problem.what());
        return static_cast<int>(problem.code());
    } catch (const pawl::error& problem) {
        say(problem.what());
        return static_cast<int>(code_for(problem.reason()));
    } catch (const std::bad_alloc&) {
        say("Out of memory.");
    } catch (const std::exception& problem) {
        say(problem.what());
    } catch (...) {
        say("An unknown error occurred.");
    }
    return static_cast<int>(exit_code::system);
}

}  // namespace pawl::cli
