// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "notifier.hpp"

#include "core/util/random.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/datagram_protocol.hpp>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace asio = boost::asio;

namespace pawl::sqlite {
namespace {

// Each network namespace has its own abstract names: the same name is a different socket in each.
std::string network_namespace() {
    struct stat file {};
    return ::stat("/proc/self/ns/net", &file) == 0 ? std::to_string(file.st_ino) : std::string("?");
}

struct socket_name {
    sockaddr_un socket_address{};
    socklen_t size = 0;

    explicit socket_name(std::string_view address) {
        const std::string text =
            "pawl-sqlite/" + std::string(address.substr(address.find('/') + 1));
        socket_address.sun_family = AF_UNIX;
        const auto length = std::min(text.size(), sizeof socket_address.sun_path - 1);
        std::memcpy(socket_address.sun_path + 1, text.data(), length);
        size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    }
    [[nodiscard]] const sockaddr* get() const noexcept {
        return reinterpret_cast<const sockaddr*>(&socket_address);
    }
};

int open_socket() noexcept {
    return ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

// Owned by a shared_ptr: a message that has arrived may still be on its way to an object that is
// destroyed.
class socket_notifier final : public notifier,
                              public std::enable_shared_from_this<socket_notifier> {
public:
    socket_notifier(const asio::any_io_executor& executor, runtime& time,
                    std::function<void(notification)> on_notification);

    // "NETWORK-NAMESPACE/RANDOM"; empty if abstract sockets are not available.
    const std::string& address() const noexcept override { return address_; }
    presence presence_of(std::string_view address) override;
    void send(std::string_view address, const notification& message) override;

    void listen();

private:
    void handle_datagram(std::size_t size);

    asio::local::datagram_protocol::socket socket_;
    std::function<void(notification)> on_notification_;
    std::string network_;
    std::string address_;
    std::array<char, 1024> buffer_{};
};

socket_notifier::socket_notifier(const asio::any_io_executor& executor, runtime& time,
                                 std::function<void(notification)> on_notification)
    : socket_(executor),
      on_notification_(std::move(on_notification)),
      network_(network_namespace()) {
    const int descriptor = open_socket();
    if (descriptor < 0) return;
    try {
        socket_.assign(asio::local::datagram_protocol(), descriptor);
    } catch (...) {
        ::close(descriptor);
        throw;
    }
    auto address = network_ + "/" + core::random_hex(time, 16);
    const socket_name name(address);
    if (::bind(descriptor, name.get(), name.size) != 0) {
        socket_.close();
        return;
    }
    address_ = std::move(address);
}

notifier::presence socket_notifier::presence_of(std::string_view address) {
    if (!address.starts_with(network_ + "/")) return presence::unknown;
    const int probe = open_socket();
    if (probe < 0) return presence::unknown;
    const socket_name name(address);
    const int connect_error = ::connect(probe, name.get(), name.size) == 0 ? 0 : errno;
    ::close(probe);
    if (connect_error == 0) return presence::present;
    return connect_error == ECONNREFUSED ? presence::gone : presence::unknown;
}

void socket_notifier::send(std::string_view address, const notification& message) {
    if (!socket_.is_open() || !address.starts_with(network_ + "/")) return;
    const socket_name name(address);
    const auto text = static_cast<char>(message.type) + message.owner + ' ' + message.name;
    // If the receiver's buffer is full, or the receiver has ended, a refresh finds the change.
    [[maybe_unused]] const auto sent = ::sendto(socket_.native_handle(), text.data(), text.size(),
                                                MSG_DONTWAIT | MSG_NOSIGNAL, name.get(), name.size);
}

// Without the socket, or the memory for a message, no more messages are received: the waiters still
// refresh, so this only costs time. No exception may end the worker's thread.
void socket_notifier::listen() {
    if (!socket_.is_open()) return;
    socket_.async_receive(
        asio::buffer(buffer_),
        [weak = weak_from_this()](boost::system::error_code failed, std::size_t size) {
            const auto self = weak.lock();
            if (failed || !self) return;
            try {
                self->handle_datagram(size);
                self->listen();
            } catch (const std::bad_alloc&) {}
        });
}

void socket_notifier::handle_datagram(std::size_t size) {
    const std::string_view text(buffer_.data(), size);
    const auto space = text.find(' ');
    if (space == std::string_view::npos || space == 0) return;
    const auto type = static_cast<notification::kind>(text[0]);
    if (type != notification::kind::granted && type != notification::kind::forced &&
        type != notification::kind::latch)
        return;
    on_notification_(
        {type, std::string(text.substr(1, space - 1)), std::string(text.substr(space + 1))});
}

}  // namespace

std::shared_ptr<notifier> make_socket_notifier(const asio::any_io_executor& executor, runtime& time,
                                               std::function<void(notification)> on_notification) {
    auto made = std::make_shared<socket_notifier>(executor, time, std::move(on_notification));
    made->listen();
    return made;
}

}  // namespace pawl::sqlite
