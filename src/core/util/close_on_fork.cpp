// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "close_on_fork.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

namespace pawl::core {
namespace {

// The mutex is held during a fork, so that the child finds a complete list.
std::mutex mutex;
close_on_fork* first_entry = nullptr;

int unconnected_socket() noexcept {
    return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

}  // namespace

const int close_on_fork::fork_handlers =
    ::pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); },
                     [] {
                         replace_all();
                         mutex.unlock();
                     });

close_on_fork::no_fork::no_fork() : lock_(mutex) {}

close_on_fork::~close_on_fork() { forget(no_fork()); }

void close_on_fork::add(int descriptor, const no_fork&) noexcept {
    descriptor_ = descriptor;
    next_ = first_entry;
    if (first_entry != nullptr) first_entry->previous_ = this;
    first_entry = this;
}

void close_on_fork::forget(const no_fork&) noexcept {
    if (descriptor_ < 0) return;
    descriptor_ = -1;
    (previous_ != nullptr ? previous_->next_ : first_entry) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
    next_ = previous_ = nullptr;
}

// Runs in the child, with calls that are safe there. A process that can open no more descriptors
// first closes one of the numbers, and then gets that number.
void close_on_fork::replace_all() noexcept {
    int unconnected = unconnected_socket();
    bool in_use = false;
    for (const auto* each = first_entry; each != nullptr; each = each->next_) {
        if (unconnected < 0) {
            ::close(each->descriptor_);
            unconnected = unconnected_socket();
            in_use = unconnected == each->descriptor_;
        }
        if (unconnected >= 0 && unconnected != each->descriptor_)
            ::dup3(unconnected, each->descriptor_, O_CLOEXEC);
    }
    if (unconnected >= 0 && !in_use) ::close(unconnected);
}

}  // namespace pawl::core
