// Wakes clients in other processes of this host: datagrams between abstract unix sockets.
#pragma once

#include <pawl/runtime.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/datagram_protocol.hpp>

#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace pawl::sqlite {

// Says that there is news of this owner's lock, or of a latch, which has none. Anybody on the host
// may send one, so the file is looked at before it is believed.
struct ring {
    enum class kind : char { granted = 'g', forced = 'f', latch = 'l' };
    kind what = kind::granted;
    std::string owner;
    std::string name;
};

// Used on the one thread of its executor.
class doorbell {
public:
    enum class presence : char { there, gone, unknown };

    // `heard` is called for every ring, on the executor.
    doorbell(boost::asio::any_io_executor on, runtime& time, std::function<void(ring)> heard);

    // What others ring: "NETWORK-NAMESPACE/RANDOM"; empty where there are no such sockets.
    [[nodiscard]] const std::string& address() const noexcept { return address_; }

    // `gone` proves that the client has ended; `unknown` that we cannot tell, as from another
    // container.
    [[nodiscard]] presence look(std::string_view address);
    void send(std::string_view address, const ring& news);

private:
    void listen();
    void listen_later() noexcept;
    void heard(std::size_t size);

    boost::asio::local::datagram_protocol::socket socket_;
    std::function<void(ring)> heard_;
    std::string network_;
    std::string address_;
    std::array<char, 1024> buffer_{};
};

}  // namespace pawl::sqlite
