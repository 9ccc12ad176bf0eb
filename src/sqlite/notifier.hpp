// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Wakes clients in other processes of this host, by datagrams between abstract unix sockets.
#pragma once

#include "core/util/spi.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/datagram_protocol.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::sqlite {

// A message that the state of this owner's lock, or of a latch, has changed; a latch has no owner.
// Any program of the host may send such a message, so the client reads the file before it acts.
struct notification {
    enum class kind : char { granted = 'g', forced = 'f', latch = 'l' };
    kind type = kind::granted;
    std::string owner;
    std::string name;
};

// Used on the one thread of its executor. Owned by a shared_ptr: a message that has arrived may
// still be on its way to an object that is destroyed.
class notifier : public std::enable_shared_from_this<notifier> {
public:
    enum class presence : char { present, gone, unknown };

    // `on_notification` is called for every notification, on the executor, after `listen`.
    notifier(boost::asio::any_io_executor executor, runtime& time,
             std::function<void(notification)> on_notification);

    // The address for other clients: "NETWORK-NAMESPACE/RANDOM"; empty if abstract sockets are not
    // available.
    [[nodiscard]] const std::string& address() const noexcept { return address_; }

    // `gone`: the client has ended. `unknown`: this process cannot find out, for example because
    // the client is in another container.
    [[nodiscard]] presence presence_of(std::string_view address);
    void send(std::string_view address, const notification& message);
    void listen();

private:
    void handle_datagram(std::size_t size);

    boost::asio::local::datagram_protocol::socket socket_;
    std::function<void(notification)> on_notification_;
    std::string network_;
    std::string address_;
    std::array<char, 1024> buffer_{};
};

}  // namespace pawl::sqlite
