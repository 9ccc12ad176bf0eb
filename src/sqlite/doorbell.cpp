#include "doorbell.hpp"

#include "core/chance.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace asio = boost::asio;

namespace pawl::sqlite {
namespace {

// Abstract names are per network namespace: the same name means another socket in another one.
std::string network_namespace() {
    struct stat file {};
    return ::stat("/proc/self/ns/net", &file) == 0 ? std::to_string(file.st_ino) : std::string("?");
}

struct socket_name {
    sockaddr_un where{};
    socklen_t size = 0;

    explicit socket_name(std::string_view address) {
        const std::string text =
            "pawl-sqlite/" + std::string(address.substr(address.find('/') + 1));
        where.sun_family = AF_UNIX;
        const auto length = std::min(text.size(), sizeof where.sun_path - 1);
        std::memcpy(where.sun_path + 1, text.data(), length);
        size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    }
    [[nodiscard]] const sockaddr* get() const noexcept {
        return reinterpret_cast<const sockaddr*>(&where);
    }
};

int open_socket() noexcept {
    return ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

}  // namespace

doorbell::doorbell(asio::any_io_executor on, runtime& time, std::function<void(ring)> heard)
    : socket_(on), heard_(std::move(heard)), network_(network_namespace()) {
    const int made = open_socket();
    if (made < 0) return;
    const auto address = network_ + "/" + core::random_hex(time, 16);
    const socket_name name(address);
    if (::bind(made, name.get(), name.size) != 0) {
        ::close(made);
        return;
    }
    socket_.assign(asio::local::datagram_protocol(), made);
    address_ = address;
    listen();
}

doorbell::presence doorbell::look(std::string_view address) {
    if (!address.starts_with(network_ + "/")) return presence::unknown;
    const int probe = open_socket();
    if (probe < 0) return presence::unknown;
    const socket_name name(address);
    const int refused = ::connect(probe, name.get(), name.size) == 0 ? 0 : errno;
    ::close(probe);
    if (refused == 0) return presence::there;
    return refused == ECONNREFUSED ? presence::gone : presence::unknown;
}

void doorbell::send(std::string_view address, const ring& news) {
    if (!socket_.is_open() || !address.starts_with(network_ + "/")) return;
    const socket_name name(address);
    const auto text = static_cast<char>(news.what) + news.owner + ' ' + news.name;
    // A full mailbox, or one that is gone: the look will find what we had to say.
    [[maybe_unused]] const auto sent = ::sendto(socket_.native_handle(), text.data(), text.size(),
                                                MSG_DONTWAIT | MSG_NOSIGNAL, name.get(), name.size);
}

void doorbell::listen() {
    socket_.async_receive(asio::buffer(buffer_),
                          [this](boost::system::error_code failed, std::size_t size) {
                              // Without it the waiters still look by themselves, so that a broken
                              // socket costs only time.
                              if (failed) return;
                              // Nor may a lack of memory leave the worker's thread.
                              try {
                                  heard(size);
                                  listen();
                              } catch (const std::bad_alloc&) {
                                  listen_later();
                              }
                          });
}

// What could not be heard is found by a look; the next ring is.
void doorbell::listen_later() noexcept {
    try {
        listen();
    } catch (...) {}
}

void doorbell::heard(std::size_t size) {
    const std::string_view text(buffer_.data(), size);
    const auto space = text.find(' ');
    if (space == std::string_view::npos || space == 0) return;
    const auto what = static_cast<ring::kind>(text[0]);
    if (what != ring::kind::granted && what != ring::kind::forced && what != ring::kind::latch)
        return;
    heard_({what, std::string(text.substr(1, space - 1)), std::string(text.substr(space + 1))});
}

}  // namespace pawl::sqlite
