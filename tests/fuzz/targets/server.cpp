#include "server.hpp"

#include "operations.hpp"
#include "targets.hpp"

#include "../../unit/hand_time.hpp"

#include <support/temp_folder.hpp>

#include <pawl/backend.hpp>
#include <pawl/error.hpp>
#include <pawl/service.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace fuzz {

namespace {

using socket = asio::local::stream_protocol::socket;

// The next command that is whole: its words are taken off.
std::optional<std::vector<std::string>> take_command(std::string& from) {
    std::string_view rest = from;
    const auto number = [&](char mark) -> std::optional<std::size_t> {
        const auto end = rest.find("\r\n");
        if (end == std::string_view::npos || rest[0] != mark) return {};
        std::size_t value = 0;
        std::from_chars(rest.data() + 1, rest.data() + end, value);
        rest.remove_prefix(end + 2);
        return value;
    };
    const auto count = number('*');
    if (!count) return {};
    std::vector<std::string> words;
    for (std::size_t i = 0; i < *count; ++i) {
        const auto size = number('$');
        if (!size || rest.size() < *size + 2) return {};
        words.emplace_back(rest.substr(0, *size));
        rest.remove_prefix(*size + 2);
    }
    from.erase(0, from.size() - rest.size());
    return words;
}

std::string bulk(const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

// One connection of the client.
class talk : public std::enable_shared_from_this<talk> {
public:
    talk(socket with, session& what) : with_(std::move(with)), what_(what) {}

    void begin() {
        if (!what_.greets) say_raw();
        listen();
    }

private:
    void listen() {
        with_.async_read_some(asio::buffer(heard_),
                              [self = shared_from_this()](const auto& ec, std::size_t got) {
                                  if (ec) return;
                                  self->asked_.append(self->heard_.data(), got);
                                  while (const auto words = take_command(self->asked_))
                                      self->answer(*words);
                                  self->send();
                                  self->listen();
                              });
    }

    void answer(const std::vector<std::string>& words) {
        if (!what_.greets || words.empty()) return;
        const auto& verb = words[0];
        if (verb == "HELLO")
            to_say_ += "%2\r\n+server\r\n+redis\r\n+mode\r\n+standalone\r\n";
        else if (verb == "SELECT" || verb == "CLIENT")
            to_say_ += "+OK\r\n";
        else if (verb == "INFO" && words.size() == 2 && words[1] == "server")
            to_say_ += bulk("# Server\r\nredis_version:7.0.15\r\nrun_id:0123\r\n");
        else if (verb == "TIME")
            to_say_ += "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n";
        else if (verb == "PING")
            to_say_ += "+PONG\r\n";
        else if (verb.ends_with("SUBSCRIBE"))
            confirm(words);
        else
            say_next();
    }

    void confirm(const std::vector<std::string>& words) {
        std::string what = words[0];
        for (char& each : what)
            each = static_cast<char>(each - 'A' + 'a');
        for (std::size_t i = 1; i < words.size(); ++i)
            to_say_ += ">3\r\n" + bulk(what) + bulk(words[i]) + ":1\r\n";
    }

    void say_next() {
        if (!what_.replies.empty()) {
            to_say_ += what_.replies.front();
            what_.replies.pop_front();
        } else {
            say_raw();
        }
    }

    // The last that is said: nobody is answered afterwards, on this connection or another.
    void say_raw() {
        to_say_ += what_.raw;
        what_.raw.clear();
        last_ = what_.is_over = true;
    }

    void send() {
        if (sending_) return;
        if (to_say_.empty()) {
            boost::system::error_code ignored;
            if (last_) with_.close(ignored);
            return;
        }
        sending_ = true;
        const auto size = std::min(to_say_.size(), std::max<std::size_t>(what_.chunk, 1));
        with_.async_write_some(asio::buffer(to_say_.data(), size),
                               [self = shared_from_this()](const auto& ec, std::size_t sent) {
                                   self->sending_ = false;
                                   if (ec) return;
                                   self->to_say_.erase(0, sent);
                                   self->send();
                               });
    }

    socket with_;
    session& what_;
    std::array<char, 4096> heard_{};
    std::string asked_;
    std::string to_say_;
    bool sending_ = false;
    bool last_ = false;
};

class server {
public:
    server(asio::io_context& loop, const std::string& path, session& what)
        : what_(what), door_(loop, asio::local::stream_protocol::endpoint(path)) {
        accept();
    }

private:
    void accept() {
        door_.async_accept([this](const auto& ec, socket with) {
            if (ec) return;
            std::make_shared<talk>(std::move(with), what_)->begin();
            accept();
        });
    }

    session& what_;
    asio::local::stream_protocol::acceptor door_;
};

// Ids must differ, also where chance is replayed.
class replayed_time final : public pawl::runtime {
public:
    pawl::time_point now() const noexcept override { return time_.now(); }
    std::chrono::system_clock::time_point wall() const noexcept override { return time_.wall(); }
    std::unique_ptr<pawl::timer> make_timer(const asio::any_io_executor& on) override {
        return time_.make_timer(on);
    }
    void random(std::span<std::byte> fill) override {
        for (auto& each : fill) {
            state_ = state_ * 6364136223846793005U + 1442695040888963407U;
            each = static_cast<std::byte>(state_ >> 56U);
        }
    }
    bool passes_by_itself() const noexcept override { return false; }
    void move(pawl::duration by) { time_.move(by); }

private:
    pawl::hand_moved time_;
    std::uint64_t state_ = 1;
};

// The longest that a client may need for its few operations, in a time that passes while it waits.
constexpr int most_pauses = 10'000;
constexpr auto pause = 100ms;

}  // namespace

void play(session what) {
    static const support::temp_folder folder;
    static int number = 0;
    const auto path = folder.file(std::to_string(++number));
    replayed_time time;
    {
        asio::io_context loop(1);
        std::optional<server> listening;
        listening.emplace(loop, path, what);
        const auto where = pawl::from_url("redis+unix://" + path + "?reply_timeout_ms=1000" +
                                          (what.options.empty() ? "" : "&" + what.options));
        pawl::backend_context context;
        context.strand = asio::make_strand(loop);
        context.time = &time;
        context.who = {"host", 1, "fuzz"};
        operations all(where.open(context), context.strand, time, what.operations);
        for (int pauses = 0; !all.done();) {
            if (loop.stopped()) loop.restart();
            if (loop.poll() > 0) continue;
            if (what.is_over) listening.reset();
            if (++pauses > most_pauses) fail("an operation has no outcome after 1000 s");
            time.move(pause);
        }
    }
    ::unlink(path.c_str());
}

}  // namespace fuzz
