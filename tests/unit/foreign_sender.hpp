// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Another program of the host that sends to the notification socket of a client.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace backend_tests {

// A socket that sends to the client at `address`, as stored in the file.
class foreign_sender {
public:
    explicit foreign_sender(const std::string& address) {
        const auto name = "pawl-sqlite/" + address.substr(address.find('/') + 1);
        address_.sun_family = AF_UNIX;
        std::memcpy(address_.sun_path + 1, name.data(), name.size());
        size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    }
    ~foreign_sender() { ::close(socket_); }
    foreign_sender(const foreign_sender&) = delete;
    foreign_sender& operator=(const foreign_sender&) = delete;

    // Waits while the client's socket is full.
    [[nodiscard]] bool send(const std::string& text) const {
        return ::sendto(socket_, text.data(), text.size(), 0,
                        reinterpret_cast<const sockaddr*>(&address_),
                        size_) == static_cast<ssize_t>(text.size());
    }

private:
    const int socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address_{};
    socklen_t size_ = 0;
};

}  // namespace backend_tests
