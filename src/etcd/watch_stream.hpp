// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The watches of a client, which share one stream. A watch sees the changes from its beginning on,
// so whoever begins one looks at the keys once when the watch has begun.
#pragma once

#include "transport/messages.hpp"
#include "transport/server_link.hpp"

#include "../core/util/back_off.hpp"
#include "../core/util/fork_mark.hpp"
#include "../core/util/in_flight.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::etcd {

// The receiver of one watch. Its functions do not begin or end watches.
class watch_listener {
public:
    // The watch has begun, also again after the connection was lost: changes before may be missed.
    virtual void on_watch_begin() = 0;
    virtual void on_change(const watch_event& change) = 0;

protected:
    ~watch_listener() = default;
};

// Used on one strand.
class watch_stream final : public std::enable_shared_from_this<watch_stream> {
public:
    watch_stream(std::shared_ptr<server_link> link, const backend_context& context);

    // Without `end`, of one key. Returns the number of the watch.
    std::int64_t begin(watch_listener& receiver, std::string key, std::string end,
                       bool deletes_only);
    // The receiver is not used any more.
    void end(std::int64_t number) noexcept;
    void close() noexcept;

private:
    struct watch {
        watch_listener* receiver;
        std::string key, end;
        bool deletes_only = false;
    };
    class running_stream;

    static boost::asio::awaitable<void> run(std::shared_ptr<watch_stream> self);
    boost::asio::awaitable<void> serve();
    void on_message(std::string_view text);

    const std::shared_ptr<server_link> link_;
    const backend_context context_;
    const core::fork_mark made_in_;
    std::map<std::int64_t, watch> watches_;
    std::int64_t last_number_ = 0;
    running_stream* running_ = nullptr;
    core::back_off pauses_;
    core::wakeup wakeup_;
    bool is_running_ = false;
    bool is_closed_ = false;
};

// Ends its watch. Not movable, as its receiver must stay where it is.
class scoped_watch {
public:
    explicit scoped_watch(std::shared_ptr<watch_stream> stream) : stream_(std::move(stream)) {}
    ~scoped_watch() { reset(); }
    scoped_watch(const scoped_watch&) = delete;
    scoped_watch& operator=(const scoped_watch&) = delete;

    void begin(watch_listener& receiver, std::string key, std::string end, bool deletes_only) {
        reset();
        number_ = stream_->begin(receiver, std::move(key), std::move(end), deletes_only);
    }
    void reset() noexcept {
        if (number_ != 0) stream_->end(std::exchange(number_, 0));
    }

private:
    const std::shared_ptr<watch_stream> stream_;
    std::int64_t number_ = 0;
};

}  // namespace pawl::etcd
