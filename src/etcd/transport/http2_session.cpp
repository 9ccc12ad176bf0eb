// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "http2_session.hpp"

#include <nghttp2/nghttp2.h>

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <new>
#include <vector>

namespace pawl::etcd {
namespace {

// A watch of thousands of keys must not stop at the standard's 64 KB.
constexpr std::uint32_t stream_window = 1 << 20;
constexpr std::int32_t connection_window = 16 << 20;
constexpr std::size_t prefix_size = 5;  // of a message: a flag and the length
constexpr std::size_t longest_status_text = 1000;

std::uint8_t* bytes_of(std::string_view value) noexcept {
    // nghttp2 copies the fields and does not write to them.
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(value.data()));
}

nghttp2_nv field(std::string_view name, std::string_view value) noexcept {
    return {bytes_of(name), bytes_of(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

int number_of(std::string_view text, int otherwise) noexcept {
    int value = otherwise;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

int hex_digit(char digit) noexcept {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return -1;
}

// The text of a status is percent-encoded. Control characters must not reach a terminal.
std::string percent_decoded(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size() && result.size() < longest_status_text; ++i) {
        char next = text[i];
        if (next == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
            hex_digit(text[i + 2]) >= 0) {
            next = static_cast<char>(16 * hex_digit(text[i + 1]) + hex_digit(text[i + 2]));
            i += 2;
        }
        const auto byte = static_cast<unsigned char>(next);
        result += byte < 32 || byte == 127 ? ' ' : next;
    }
    return result;
}

}  // namespace

struct http2_session::call {
    call_handler* receiver;
    std::string to_send{};
    bool is_last = false;
    std::string received{};
    int http_status = 0;
    bool is_grpc = false;
    int status = -1;  // none yet
    std::string status_text{};

    [[nodiscard]] call_status end_status(std::uint32_t reset_code) const;
};

call_status http2_session::call::end_status(std::uint32_t reset_code) const {
    if (status >= 0) return {status, status_text};
    if (http_status != 0 && (http_status != 200 || !is_grpc))
        return {call_status::not_grpc, "it answered with the HTTP status " +
                                           std::to_string(http_status) + ", not as gRPC does"};
    return {call_status::unavailable,
            reset_code == NGHTTP2_NO_ERROR
                ? "the answer ended early"
                : std::string("the server ended the call: ") + nghttp2_http2_strerror(reset_code)};
}

void http2_session::deleter::operator()(nghttp2_session* session) const noexcept {
    nghttp2_session_del(session);
}

// What nghttp2 calls. No exception may pass through it, so a shortage of memory ends the session.
struct http2_session::callbacks {
    static http2_session& self(void* user) noexcept { return *static_cast<http2_session*>(user); }

    template <class Function>
    static int guarded(const Function& function) noexcept {
        try {
            function();
            return 0;
        } catch (...) {
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    }

    static ssize_t on_read(nghttp2_session*, std::int32_t number, std::uint8_t* target,
                           std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                           void* user) {
        auto* const target_call = self(user).find(number);
        if (target_call == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
        const auto count = std::min(size, target_call->to_send.size());
        std::memcpy(target, target_call->to_send.data(), count);
        target_call->to_send.erase(0, count);
        if (target_call->to_send.empty() && target_call->is_last) *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (count == 0 && !target_call->is_last) return NGHTTP2_ERR_DEFERRED;
        return static_cast<ssize_t>(count);
    }

    static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                         std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                         std::uint8_t, void* user) {
        auto* const target_call = self(user).find(frame->hd.stream_id);
        if (target_call == nullptr) return 0;
        const std::string_view key(reinterpret_cast<const char*>(name), name_size);
        const std::string_view text(reinterpret_cast<const char*>(value), value_size);
        return guarded([&] {
            if (key == ":status")
                target_call->http_status = number_of(text, 0);
            else if (key == "content-type")
                target_call->is_grpc = text.starts_with("application/grpc");
            else if (key == "grpc-status")
                target_call->status = std::max(0, number_of(text, 2));
            else if (key == "grpc-message")
                target_call->status_text = percent_decoded(text);
        });
    }

    static int on_data(nghttp2_session*, std::uint8_t, std::int32_t number,
                       const std::uint8_t* bytes, std::size_t size, void* user) {
        auto* const target_call = self(user).find(number);
        if (target_call == nullptr) return 0;
        return guarded([&] {
            target_call->received.append(reinterpret_cast<const char*>(bytes), size);
            self(user).take_messages(number);
        });
    }

    static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->hd.type == NGHTTP2_SETTINGS) self(user).is_greeted_ = true;
        if (frame->hd.type == NGHTTP2_GOAWAY) self(user).is_draining_ = true;
        return 0;
    }

    static int on_close(nghttp2_session*, std::int32_t number, std::uint32_t code, void* user) {
        auto* const target_call = self(user).find(number);
        if (target_call == nullptr) return 0;
        return guarded([&] {
            const auto status = target_call->end_status(code);
            self(user).end(number, status);
        });
    }
};

http2_session::http2_session(std::string authority, bool has_tls)
    : authority_(std::move(authority)), scheme_(has_tls ? "https" : "http") {
    nghttp2_session_callbacks* table = nullptr;
    if (nghttp2_session_callbacks_new(&table) != 0) throw std::bad_alloc();
    nghttp2_session_callbacks_set_on_header_callback(table, callbacks::on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, callbacks::on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(table, callbacks::on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(table, callbacks::on_close);
    nghttp2_session* made = nullptr;
    const int failure = nghttp2_session_client_new(&made, table, this);
    nghttp2_session_callbacks_del(table);
    if (failure != 0) throw std::bad_alloc();
    session_.reset(made);
    const std::array<nghttp2_settings_entry, 2> settings{
        nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window}};
    nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
    nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, connection_window);
}

http2_session::~http2_session() = default;

http2_session::call* http2_session::find(std::int32_t number) noexcept {
    const auto at = calls_.find(number);
    return at == calls_.end() ? nullptr : at->second.get();
}

std::int32_t http2_session::begin(std::string_view path, metadata fields, call_handler& receiver) {
    if (is_draining_ || !failure_.empty()) return 0;
    std::vector<nghttp2_nv> headers{field(":method", "POST"),
                                    field(":scheme", scheme_),
                                    field(":path", path),
                                    field(":authority", authority_),
                                    field("content-type", "application/grpc"),
                                    field("te", "trailers")};
    for (const auto& [name, value] : fields)
        headers.push_back(field(name, value));
    nghttp2_data_provider source{};
    source.read_callback = callbacks::on_read;
    auto made = std::make_unique<call>(call{.receiver = &receiver});
    const auto number = nghttp2_submit_request(session_.get(), nullptr, headers.data(),
                                               headers.size(), &source, nullptr);
    if (number <= 0) return 0;
    calls_.emplace(number, std::move(made));
    return number;
}

void http2_session::send(std::int32_t number, std::string_view message, bool is_last) {
    auto* const target_call = find(number);
    if (target_call == nullptr || target_call->is_last) return;
    const auto size = static_cast<std::uint32_t>(message.size());
    target_call->to_send += '\0';  // not compressed
    for (int shift = 24; shift >= 0; shift -= 8)
        target_call->to_send += static_cast<char>(size >> shift & 255U);
    target_call->to_send += message;
    target_call->is_last = is_last;
    nghttp2_session_resume_data(session_.get(), number);
}

void http2_session::cancel(std::int32_t number) {
    if (calls_.erase(number) == 0) return;
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, number, NGHTTP2_CANCEL);
}

void http2_session::end(std::int32_t number, const call_status& status) {
    const auto at = calls_.find(number);
    if (at == calls_.end()) return;
    auto* const receiver = at->second->receiver;
    calls_.erase(at);
    receiver->on_end(status);
}

// A handler may cancel its call, so the call is looked up again after each message.
void http2_session::take_messages(std::int32_t number) {
    for (auto* target_call = find(number); target_call != nullptr; target_call = find(number)) {
        const auto& bytes = target_call->received;
        if (bytes.size() < prefix_size) return;
        std::size_t size = 0;
        for (std::size_t i = 1; i < prefix_size; ++i)
            size = size << 8 | static_cast<unsigned char>(bytes[i]);
        if (bytes[0] != '\0' || size > longest_message) {
            nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, number, NGHTTP2_CANCEL);
            const bool is_long = bytes[0] == '\0';
            end(number, {is_long ? call_status::too_long : call_status::not_grpc,
                         is_long ? "the answer has more than 4 MiB"
                                 : "it sent a compressed answer, which Pawl does not ask for"});
            return;
        }
        if (bytes.size() < prefix_size + size) return;
        const auto message = bytes.substr(prefix_size, size);
        target_call->received.erase(0, prefix_size + size);
        target_call->receiver->on_message(message);
    }
}

bool http2_session::receive(std::string_view bytes) {
    if (!failure_.empty()) return false;
    if (!is_greeted_ && bytes.starts_with("HTTP/1."))
        failure_ = "it speaks HTTP/1.1, not gRPC";
    else if (!is_greeted_ && bytes.starts_with("\x15\x03"))
        failure_ = "this port speaks TLS";
    if (!failure_.empty()) return false;
    const auto consumed = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    if (consumed < 0)
        failure_ = is_greeted_ ? std::string("it broke the rules of HTTP/2: ") +
                                     nghttp2_strerror(static_cast<int>(consumed))
                               : "it does not speak HTTP/2";
    return failure_.empty();
}

bool http2_session::is_over() {
    auto* const session = session_.get();
    if (nghttp2_session_want_read(session) != 0 || nghttp2_session_want_write(session) != 0)
        return !failure_.empty();
    if (failure_.empty() && !is_draining_)
        failure_ = is_greeted_ ? "it broke the rules of HTTP/2" : "it does not speak HTTP/2";
    return true;
}

void http2_session::take_output(std::string& target) {
    for (;;) {
        const std::uint8_t* bytes = nullptr;
        const auto size = nghttp2_session_mem_send(session_.get(), &bytes);
        if (size <= 0) return;
        target.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    }
}

void http2_session::end_all(const call_status& status) {
    is_draining_ = true;
    while (!calls_.empty())
        end(calls_.begin()->first, status);
}

}  // namespace pawl::etcd
