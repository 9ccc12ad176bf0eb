// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls of gRPC on one connection, without I/O: bytes go in and out. nghttp2 has the frames,
// the compression of headers and the windows of HTTP/2.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

struct nghttp2_session;

namespace pawl::etcd {

// How a call ended.
struct call_status {
    // The codes of gRPC that matter here.
    static constexpr int ok = 0, canceled = 1, invalid_argument = 3, deadline_exceeded = 4,
                         not_found = 5, permission_denied = 7, resource_exhausted = 8,
                         failed_precondition = 9, unimplemented = 12, unavailable = 14,
                         unauthenticated = 16;
    // Pawl's own: the server is no etcd; and the message is too long.
    static constexpr int not_grpc = -1, too_long = -2;

    int code = unavailable;
    std::string message{};
};

// Used on one strand.
class http2_session {
public:
    // The receiver of one call. It may open and cancel calls in its functions.
    class call_handler {
    public:
        virtual void on_message(std::string_view message) = 0;
        // Nothing follows.
        virtual void on_end(const call_status& status) = 0;

    protected:
        ~call_handler() = default;
    };
    using metadata = std::span<const std::pair<std::string, std::string>>;

    // The longest message that is accepted, as etcd's own client accepts.
    static constexpr std::size_t longest_message = 4 << 20;

    // `authority`: HOST:PORT. `has_tls`: the scheme that requests name.
    http2_session(std::string authority, bool has_tls);
    ~http2_session();
    http2_session(const http2_session&) = delete;
    http2_session& operator=(const http2_session&) = delete;

    // Begins a call and returns its number; 0 if no call can begin any more.
    [[nodiscard]] std::int32_t begin(std::string_view path, metadata fields,
                                     call_handler& receiver);
    // Adds a message to the call. `is_last`: no message of the client follows.
    void send(std::int32_t call, std::string_view message, bool is_last);
    // Ends the call at the server. Its receiver is not used any more.
    void cancel(std::int32_t call);

    // Takes the server's bytes. False: they are not HTTP/2, or the connection is over.
    [[nodiscard]] bool receive(std::string_view bytes);
    // True: nothing more is to be read or sent. After an error of the protocol, nghttp2 sends a
    // GOAWAY and wants no more.
    [[nodiscard]] bool is_over();
    // Appends the bytes that are to be sent.
    void take_output(std::string& target);
    // Ends all calls, as when the connection has ended.
    void end_all(const call_status& status);

    // True: the server has said that it takes no more calls.
    [[nodiscard]] bool is_draining() const noexcept { return is_draining_; }
    [[nodiscard]] bool has_calls() const noexcept { return !calls_.empty(); }
    // The server has answered as HTTP/2 does.
    [[nodiscard]] bool is_greeted() const noexcept { return is_greeted_; }
    // Why the session is over, for messages; empty after a GOAWAY of the server.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

private:
    struct call;
    struct callbacks;
    struct deleter {
        void operator()(nghttp2_session* session) const noexcept;
    };

    [[nodiscard]] call* find(std::int32_t number) noexcept;
    void take_messages(std::int32_t number);
    void end(std::int32_t number, const call_status& status);

    const std::string authority_;
    const std::string scheme_;
    std::unique_ptr<nghttp2_session, deleter> session_;
    std::map<std::int32_t, std::unique_ptr<call>> calls_;
    std::string failure_;
    bool is_draining_ = false;
    bool is_greeted_ = false;
};

}  // namespace pawl::etcd
