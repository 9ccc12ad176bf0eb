// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The bytes of one direction on their way out of the fault proxy, each chunk with the earliest time
// to send it.
#pragma once

#include <pawl/types.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include <cerrno>

#include <sys/socket.h>

namespace support {

class proxy_pipe {
public:
    void add(std::string bytes, pawl::time_point not_before) {
        if (!chunks_.empty()) not_before = std::max(not_before, chunks_.back().not_before);
        chunks_.push_back({std::move(bytes), not_before});
    }

    [[nodiscard]] bool is_empty() const noexcept { return chunks_.empty(); }
    // When the first chunk may be sent; the end of time when there is none.
    [[nodiscard]] pawl::time_point ready_at() const noexcept {
        return chunks_.empty() ? pawl::time_point::max() : chunks_.front().not_before;
    }

    // Sends what is due. False: the other side is gone.
    [[nodiscard]] bool flush(int socket, pawl::time_point now) {
        while (!chunks_.empty() && chunks_.front().not_before <= now) {
            std::string& bytes = chunks_.front().bytes;
            const auto count =
                ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (count < 0) return errno == EAGAIN || errno == EINTR;
            bytes.erase(0, static_cast<std::size_t>(count));
            if (!bytes.empty()) return true;
            chunks_.pop_front();
        }
        return true;
    }

private:
    struct chunk {
        std::string bytes;
        pawl::time_point not_before;
    };
    std::deque<chunk> chunks_;
};

}  // namespace support
