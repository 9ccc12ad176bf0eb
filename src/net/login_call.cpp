// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "login_call.hpp"

#include "../core/util/exhausted.hpp"
#include "../core/util/start_thread.hpp"

#include <pawl/error.hpp>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace asio = boost::asio;

namespace pawl::net {

namespace {

error no_descriptor_error() {
    return core::exhausted("The credentials cannot be asked for",
                           std::system_category().message(errno));
}

}  // namespace

// Shared with the thread, which writes everything before `has_ended`. Without a lock, so a fork at
// any moment leaves none behind.
struct login_call::state {
    ~state() {
        if (event >= 0) ::close(event);
    }
    int event = -1;
    std::function<login()> function;
    login result;
    std::string failure;  // empty: the function has returned
    std::atomic<bool> has_ended = false;

    void run() noexcept {
        try {
            result = function();
        } catch (const std::exception& e) {
            failure = *e.what() != '\0' ? e.what() : "an exception without a message";
        } catch (...) {
            failure = "an unknown exception";
        }
        function = {};  // what it captures need not outlive the call
        has_ended = true;
        ::eventfd_write(event, 1);
    }
};

login_call::login_call(std::function<login()> function) : state_(std::make_shared<state>()) {
    state_->function = std::move(function);
    state_->event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (state_->event < 0) throw no_descriptor_error();
    core::start_thread("asking for the credentials", [called = state_] { called->run(); }).detach();
}

bool login_call::has_ended() const noexcept { return state_->has_ended; }

asio::posix::stream_descriptor login_call::make_end_event(
    const asio::any_io_executor& executor) const {
    const int descriptor = ::fcntl(state_->event, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) throw no_descriptor_error();
    return {executor, descriptor};
}

login login_call::result() const {
    if (!state_->failure.empty())
        throw error(errc::refused,
                    "The function for the credentials has failed: " + state_->failure + ".");
    return state_->result;
}

}  // namespace pawl::net
