// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server.hpp"

#include "operations.hpp"
#include "targets.hpp"

#include "../../unit/manual_time.hpp"

#include <support/temp_folder.hpp>

#include <pawl/error.hpp>
#include <pawl/service.hpp>
#include <pawl/spi/backend.hpp>

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

// The next whole command: its words are removed from the buffer.
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
class connection : public std::enable_shared_from_this<connection> {
public:
    connection(socket peer, server_script& script) : peer_(std::move(peer)), script_(script) {}

    void start() {
        if (!script_.answers_handshake) send_raw_bytes();
        receive();
    }

private:
    void receive() {
        peer_.async_read_some(asio::buffer(input_buffer_),
                              [self = shared_from_this()](const auto& ec, std::size_t got) {
                                  if (ec) return;
                                  self->received_.append(self->input_buffer_.data(), got);
                                  while (const auto words = take_command(self->received_))
                                      self->reply_to(*words);
                                  self->send();
                                  self->receive();
                              });
    }

    void reply_to(const std::vector<std::string>& words) {
        if (!script_.answers_handshake || words.empty()) return;
        const auto& verb = words[0];
        if (verb == "HELLO")
            output_ += "%2\r\n+server\r\n+redis\r\n+mode\r\n+standalone\r\n";
        else if (verb == "SELECT" || verb == "CLIENT")
            output_ += "+OK\r\n";
        else if (verb == "INFO" && words.size() == 2 && words[1] == "server")
            output_ += bulk("# Server\r\nredis_version:7.0.15\r\nrun_id:0123\r\n");
        else if (verb == "TIME")
            output_ += "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n";
        else if (verb == "PING")
            output_ += "+PONG\r\n";
        else if (verb.ends_with("SUBSCRIBE"))
            acknowledge(words);
        else
            send_next_reply();
    }

    void acknowledge(const std::vector<std::string>& words) {
        std::string event = words[0];
        for (char& each : event)
            each = static_cast<char>(each - 'A' + 'a');
        for (std::size_t i = 1; i < words.size(); ++i)
            output_ += ">3\r\n" + bulk(event) + bulk(words[i]) + ":1\r\n";
    }

    void send_next_reply() {
        if (!script_.replies.empty()) {
            output_ += script_.replies.front();
            script_.replies.pop_front();
        } else {
            send_raw_bytes();
        }
    }

    // The last reply: afterwards no request is answered, on this connection or another.
    void send_raw_bytes() {
        output_ += script_.raw_bytes;
        script_.raw_bytes.clear();
        is_last_ = script_.is_finished = true;
    }

    void send() {
        if (sending_) return;
        if (output_.empty()) {
            boost::system::error_code ignored;
            if (is_last_) peer_.close(ignored);
            return;
        }
        sending_ = true;
        const auto size = std::min(output_.size(), std::max<std::size_t>(script_.chunk, 1));
        peer_.async_write_some(asio::buffer(output_.data(), size),
                               [self = shared_from_this()](const auto& ec, std::size_t sent) {
                                   self->sending_ = false;
                                   if (ec) return;
                                   self->output_.erase(0, sent);
                                   self->send();
                               });
    }

    socket peer_;
    server_script& script_;
    std::array<char, 4096> input_buffer_{};
    std::string received_;
    std::string output_;
    bool sending_ = false;
    bool is_last_ = false;
};

class scripted_server {
public:
    scripted_server(asio::io_context& loop, const std::string& path, server_script& script)
        : script_(script), acceptor_(loop, asio::local::stream_protocol::endpoint(path)) {
        accept();
    }

private:
    void accept() {
        acceptor_.async_accept([this](const auto& ec, socket peer) {
            if (ec) return;
            std::make_shared<connection>(std::move(peer), script_)->start();
            accept();
        });
    }

    server_script& script_;
    asio::local::stream_protocol::acceptor acceptor_;
};

// Ids must differ, also in a replay.
class replayed_time final : public pawl::spi::runtime {
public:
    pawl::time_point now() const noexcept override { return time_.now(); }
    std::chrono::system_clock::time_point wall_clock() const noexcept override {
        return time_.wall_clock();
    }
    std::unique_ptr<pawl::spi::timer> make_timer(const asio::any_io_executor& on) override {
        return time_.make_timer(on);
    }
    void random(std::span<std::byte> fill) override {
        for (auto& each : fill) {
            state_ = state_ * 6364136223846793005U + 1442695040888963407U;
            each = static_cast<std::byte>(state_ >> 56U);
        }
    }
    bool is_real_time() const noexcept override { return false; }
    void move(pawl::duration by) { time_.advance(by); }

private:
    pawl::manual_time time_;
    std::uint64_t state_ = 1;
};

// The longest time that a client may need for its few operations, in a clock that advances while it
// waits.
constexpr int most_pauses = 10'000;
constexpr auto pause = 100ms;

}  // namespace

void run_script(server_script script) {
    static const support::temp_folder folder;
    static int number = 0;
    const auto path = folder.file(std::to_string(++number));
    replayed_time time;
    {
        asio::io_context loop(1);
        std::optional<scripted_server> listener;
        listener.emplace(loop, path, script);
        const auto tested_service =
            pawl::from_url("redis+unix://" + path + "?reply_timeout=1000" +
                           (script.options.empty() ? "" : "&" + script.options));
        pawl::spi::backend_context context;
        context.strand = asio::make_strand(loop);
        context.time = &time;
        context.process = {"host", 1, "fuzz"};
        operations all(tested_service.open(context), context.strand, time, script.operations);
        for (int pauses = 0; !all.is_done();) {
            if (loop.stopped()) loop.restart();
            if (loop.poll() > 0) continue;
            if (script.is_finished) listener.reset();
            if (++pauses > most_pauses) fail("an operation has no outcome after 1000 s");
            time.move(pause);
        }
    }
    ::unlink(path.c_str());
}

}  // namespace fuzz
