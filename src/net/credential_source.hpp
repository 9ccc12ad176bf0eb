// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// User and password for new connections. They may change while a client runs.
#pragma once

#include "core/util/spi.hpp"
#include "login_call.hpp"

#include "../core/util/wakeup.hpp"

#include <pawl/credentials.hpp>
#include <pawl/types.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

namespace pawl::net {

// Where user and password come from: the function, or the file, or `fixed`.
struct credential_options {
    login fixed{};
    std::string password_file{};
    std::string file_option{};  // its name in the URL
    std::function<login()> function{};
};

// Used on one strand. All links of a client share one.
class credential_source {
public:
    explicit credential_source(credential_options settings = {}) : settings_(std::move(settings)) {}

    // Reads the file or calls the function, at most one call at a time. If that fails, or takes
    // longer than until `give_up_at`, returns the last login that could be read; throws pawl::error
    // if there is none. While `is_over` is true, waits no longer.
    boost::asio::awaitable<login> get(runtime& time, boost::asio::any_io_executor strand,
                                      time_point give_up_at, std::function<bool()> is_over);
    // `is_over` of a `get` may have become true.
    void notify_waiters();

    // The server's answer to a login of `get`.
    void accept(const login& accepted) { accepted_ = accepted; }
    // True: the next `get` returns the login that was accepted last, since the refused one is
    // another. It may have been written only in part, or the server does not know it yet.
    [[nodiscard]] bool refuse(const login& refused);

    // For the log: why the last login is used. Once for each such reason, otherwise empty.
    [[nodiscard]] std::string take_notice();

private:
    boost::asio::awaitable<void> wait_for_end(std::shared_ptr<login_call> call, runtime& time,
                                              boost::asio::any_io_executor strand,
                                              time_point give_up_at, std::function<bool()> is_over);
    [[nodiscard]] login read(const login_call* call);

    const credential_options settings_;
    std::shared_ptr<login_call> call_;
    std::list<core::wakeup*> waiters_;
    std::optional<login> last_;
    std::optional<login> accepted_;
    bool is_accepted_next_ = false;
    std::string failure_;
    std::string notice_;
};

}  // namespace pawl::net
