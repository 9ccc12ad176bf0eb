// A man in the middle who reads the Redis protocol and breaks what he is told to break.
#pragma once

#include "resp.hpp"

#include <pawl/types.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace support {

using matcher = std::function<bool(const command_words&)>;

[[nodiscard]] matcher any_command();
// The first word, in any case.
[[nodiscard]] matcher named(std::string command);
// Some word is exactly this one.
[[nodiscard]] matcher with_word(std::string word);

// What happens to a command. A stream loses nothing in its middle: where a request or a reply is
// lost, the connection is lost with all that is behind it.
enum class fate {
    lose_request,    // it never arrives; the connection is cut
    lose_reply,      // it is carried out; the connection is cut before a byte of the answer
    cut_reply,       // half of the answer arrives, then the connection is cut
    delay_request,   // it and all behind it wait for `by`
    delay_reply,     // the answer and all behind it wait for `by`
    repeat_request,  // it arrives twice; the second answer is not passed on
    swallow,         // from it on nothing passes in either direction, and the connection stays open
    answer           // it does not arrive; the answer is `text`, in RESP
};

struct fault {
    matcher which;
    fate what = fate::lose_reply;
    std::chrono::milliseconds by{};
    std::string text;
    std::size_t nth = 1;    // of the commands that match from now on
    std::size_t times = 1;  // so many in a row, from the nth on
};

struct passing {
    command_words words;
    pawl::time_point when;  // it arrived here: after it was sent
    std::size_t connection = 0;
};

// Runs in a thread of its own. Thread-safe.
class fault_proxy {
public:
    explicit fault_proxy(endpoint upstream);
    ~fault_proxy();
    fault_proxy(const fault_proxy&) = delete;
    fault_proxy& operator=(const fault_proxy&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept;
    [[nodiscard]] std::string url(const std::string& more = {}) const;

    void inject(fault what);
    // How often a fault struck so far.
    [[nodiscard]] std::size_t struck() const;
    // Faults that were not injected yet do not strike any more.
    void heal();

    void refuse(bool on);  // nobody listens; what is open stays open
    void kill_connections();
    void freeze(bool on);  // nothing passes in either direction, everything stays open
    void drop_pushes(bool on);
    void delay(std::chrono::milliseconds requests, std::chrono::milliseconds replies);

    // The commands that came from clients, in their order.
    [[nodiscard]] std::vector<passing> seen() const;
    [[nodiscard]] std::size_t count(const matcher& which) const;
    void forget();
    [[nodiscard]] std::size_t connections_ever() const;
    [[nodiscard]] std::size_t connections_now() const;

private:
    class engine;
    std::unique_ptr<engine> engine_;
};

}  // namespace support
