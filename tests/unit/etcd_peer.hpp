// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The server's side of an HTTP/2 connection in memory, which answers as the test says.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::etcd {

// With the prefix of gRPC.
inline std::string framed(std::string_view message) {
    std::string text(1, '\0');
    for (int shift = 24; shift >= 0; shift -= 8)
        text += static_cast<char>(message.size() >> shift & 255U);
    return text.append(message);
}

class scripted_peer {
public:
    struct request {
        std::map<std::string, std::string> headers{};
        std::string body{};
        bool is_complete = false, is_reset = false;
    };
    using fields = std::vector<std::pair<std::string, std::string>>;

    scripted_peer() {
        nghttp2_session_callbacks* table = nullptr;
        nghttp2_session_callbacks_new(&table);
        nghttp2_session_callbacks_set_on_header_callback(table, on_header);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, on_data);
        nghttp2_session_callbacks_set_on_frame_recv_callback(table, on_frame);
        nghttp2_session_server_new(&session_, table, this);
        nghttp2_session_callbacks_del(table);
        nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
    }
    ~scripted_peer() { nghttp2_session_del(session_); }
    scripted_peer(const scripted_peer&) = delete;
    scripted_peer& operator=(const scripted_peer&) = delete;

    void receive(std::string_view bytes) {
        const auto consumed = nghttp2_session_mem_recv(
            session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
        if (consumed < 0) throw std::runtime_error(nghttp2_strerror(static_cast<int>(consumed)));
    }
    std::string take_output() {
        std::string text;
        const std::uint8_t* bytes = nullptr;
        while (const auto size = nghttp2_session_mem_send(session_, &bytes))
            text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
        return text;
    }

    // Headers, these bytes, and trailers, which end the stream; without trailers it stays open.
    void answer(std::int32_t stream, std::string body, fields trailers = {{"grpc-status", "0"}},
                const fields& headers = {{":status", "200"},
                                         {"content-type", "application/grpc"}}) {
        auto& sent = bodies_[stream];
        sent = {std::move(body), std::move(trailers)};
        const auto list = to_list(headers);
        nghttp2_data_provider source{};
        source.source.ptr = &sent;
        source.read_callback = on_read;
        nghttp2_submit_response(session_, stream, list.data(), list.size(), &source);
    }
    // More bytes of an answer without trailers.
    void answer_more(std::int32_t stream, std::string_view body) {
        bodies_[stream].text += body;
        nghttp2_session_resume_data(session_, stream);
    }
    void reset(std::int32_t stream, std::uint32_t code = NGHTTP2_INTERNAL_ERROR) {
        nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, code);
    }
    void go_away(std::int32_t last_stream) {
        nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last_stream, NGHTTP2_NO_ERROR, nullptr,
                              0);
    }

    std::map<std::int32_t, request> requests{};

private:
    struct sent_body {
        std::string text{};
        fields trailers{};
    };

    static std::vector<nghttp2_nv> to_list(const fields& headers) {
        std::vector<nghttp2_nv> list;
        const auto bytes = [](const std::string& text) {
            return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
        };
        for (const auto& [name, value] : headers)
            list.push_back(
                {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
        return list;
    }
    static ssize_t on_read(nghttp2_session* session, std::int32_t stream, std::uint8_t* target,
                           std::size_t size, std::uint32_t* flags, nghttp2_data_source* source,
                           void*) {
        auto& sent = *static_cast<sent_body*>(source->ptr);
        const auto count = std::min(size, sent.text.size());
        if (count == 0 && sent.trailers.empty()) return NGHTTP2_ERR_DEFERRED;
        std::memcpy(target, sent.text.data(), count);
        sent.text.erase(0, count);
        if (sent.text.empty() && !sent.trailers.empty()) {
            *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
            const auto list = to_list(sent.trailers);
            nghttp2_submit_trailer(session, stream, list.data(), list.size());
        }
        return static_cast<ssize_t>(count);
    }
    static scripted_peer& self(void* user) { return *static_cast<scripted_peer*>(user); }
    static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                         std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                         std::uint8_t, void* user) {
        self(user).requests[frame->hd.stream_id].headers.emplace(
            std::string(reinterpret_cast<const char*>(name), name_size),
            std::string(reinterpret_cast<const char*>(value), value_size));
        return 0;
    }
    static int on_data(nghttp2_session*, std::uint8_t, std::int32_t stream,
                       const std::uint8_t* bytes, std::size_t size, void* user) {
        self(user).requests[stream].body.append(reinterpret_cast<const char*>(bytes), size);
        return 0;
    }
    static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        auto& all = self(user).requests;
        if (frame->hd.type == NGHTTP2_RST_STREAM) all[frame->hd.stream_id].is_reset = true;
        if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 && frame->hd.stream_id != 0)
            all[frame->hd.stream_id].is_complete = true;
        return 0;
    }

    nghttp2_session* session_ = nullptr;
    std::map<std::int32_t, sent_body> bodies_;
};

}  // namespace pawl::etcd
