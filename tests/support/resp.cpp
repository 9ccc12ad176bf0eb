#include "resp.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace support {

namespace {

constexpr std::string_view line_end = "\r\n";

std::int64_t to_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size())
        throw std::runtime_error("no number in RESP: " + std::string(text.substr(0, 40)));
    return value;
}

bool is_text(char kind) { return kind == '$' || kind == '!' || kind == '='; }

bool is_aggregate(char kind) {
    return kind == '*' || kind == '>' || kind == '~' || kind == '%' || kind == '|';
}

std::int64_t items_in(char kind, std::int64_t announced) {
    return kind == '%' || kind == '|' ? announced * 2 : announced;
}

// Parses the first value into `into` when that is given; the bytes that it took, 0 when it is not
// whole.
std::size_t scan(std::string_view bytes, resp_value* into) {
    const auto end = bytes.find(line_end);
    if (end == std::string_view::npos) return 0;
    const char kind = bytes.front();
    const std::string_view head = bytes.substr(1, end - 1);
    std::size_t used = end + line_end.size();
    if (into != nullptr) into->kind = kind;
    if (is_text(kind)) {
        const std::int64_t length = to_number(head);
        if (into != nullptr) into->null = length < 0;
        if (length < 0) return used;
        const auto size = static_cast<std::size_t>(length);
        if (bytes.size() < used + size + line_end.size()) return 0;
        if (into != nullptr) into->text = bytes.substr(used, size);
        return used + size + line_end.size();
    }
    if (!is_aggregate(kind)) {
        if (std::string_view("+-:_#,(").find(kind) == std::string_view::npos)
            throw std::runtime_error("no RESP: " + std::string(bytes.substr(0, 40)));
        if (into != nullptr) {
            into->text = head;
            into->null = kind == '_';
        }
        return used;
    }
    const std::int64_t count = items_in(kind, to_number(head));
    if (into != nullptr) into->null = count < 0;
    for (std::int64_t i = 0; i < count; ++i) {
        resp_value* item = into != nullptr ? &into->items.emplace_back() : nullptr;
        const std::size_t taken = scan(bytes.substr(used), item);
        if (taken == 0) return 0;
        used += taken;
    }
    return used;
}

}  // namespace

std::size_t resp_length(std::string_view bytes) { return bytes.empty() ? 0 : scan(bytes, nullptr); }

resp_value parse_resp(std::string_view bytes) {
    resp_value result;
    if (bytes.empty() || scan(bytes, &result) == 0)
        throw std::runtime_error("RESP value is cut short");
    return result;
}

std::string encode_command(const command_words& words) {
    std::string result = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& each : words)
        result += "$" + std::to_string(each.size()) + "\r\n" + each + "\r\n";
    return result;
}

int connect_to(const endpoint& where) {
    const bool local = !where.unix_socket.empty();
    const int made = ::socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int answer = -1;
    if (local) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        where.unix_socket.copy(address.sun_path, sizeof address.sun_path - 1);
        answer = ::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    } else {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(where.port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        answer = ::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
        const int on = 1;
        ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    if (answer == 0) return made;
    ::close(made);
    return -1;
}

int listen_on(std::uint16_t& port) {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(made, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::listen(made, 128) != 0 ||
        ::getsockname(made, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        ::close(made);
        throw std::runtime_error("cannot listen on port " + std::to_string(port));
    }
    port = ntohs(address.sin_port);
    return made;
}

resp_client::resp_client(const endpoint& where, std::chrono::milliseconds patience)
    : socket_(connect_to(where)), patience_(patience) {
    if (socket_ < 0) throw std::runtime_error("nobody listens there");
}

resp_client::~resp_client() {
    if (socket_ >= 0) ::close(socket_);
}

void resp_client::send(const command_words& words) {
    const std::string bytes = encode_command(words);
    if (::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size()))
        throw std::runtime_error("the server closed the connection");
}

std::optional<resp_value> resp_client::receive(std::chrono::milliseconds bound) {
    const auto give_up_at = std::chrono::steady_clock::now() + bound;
    for (;;) {
        if (const std::size_t length = resp_length(pending_); length != 0) {
            resp_value result = parse_resp(pending_);
            pending_.erase(0, length);
            return result;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            give_up_at - std::chrono::steady_clock::now());
        pollfd ready{socket_, POLLIN, 0};
        if (::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) <= 0)
            return std::nullopt;
        char some[16384];
        const auto count = ::recv(socket_, some, sizeof some, 0);
        if (count <= 0) throw std::runtime_error("the server closed the connection");
        pending_.append(some, static_cast<std::size_t>(count));
    }
}

resp_value resp_client::ask(const command_words& words) {
    send(words);
    auto answer = receive(patience_);
    if (!answer) throw std::runtime_error("no answer to " + words.front());
    return std::move(*answer);
}

}  // namespace support
