// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How the clients of a file wake each other.
#pragma once

#include "core/util/spi.hpp"

#include <boost/asio/any_io_executor.hpp>

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

// Used on the worker of its client.
class notifier {
public:
    enum class presence : char { present, gone, unknown };

    notifier() = default;
    virtual ~notifier() = default;
    notifier(const notifier&) = delete;
    notifier& operator=(const notifier&) = delete;

    // The address for other clients; empty if this client cannot be notified.
    [[nodiscard]] virtual const std::string& address() const noexcept = 0;
    // `gone`: the client has ended. `unknown`: this process cannot find out, for example because
    // the client is in another container.
    [[nodiscard]] virtual presence presence_of(std::string_view address) = 0;
    // The message may be lost.
    virtual void send(std::string_view address, const notification& message) = 0;
};

// Makes the notifier of a client. `on_notification` is called for every notification, on the
// executor.
using notifier_factory = std::function<std::shared_ptr<notifier>(
    const boost::asio::any_io_executor& executor, runtime& time,
    std::function<void(notification)> on_notification)>;

// Datagrams between abstract unix sockets, for the processes of this host.
[[nodiscard]] std::shared_ptr<notifier> make_socket_notifier(
    const boost::asio::any_io_executor& executor, runtime& time,
    std::function<void(notification)> on_notification);

}  // namespace pawl::sqlite
