// Undoes requests whose outcome is unknown: all those of one client, since one server refuses or
// loses them all alike.
#pragma once

#include "back_off.hpp"
#include "link.hpp"

#include "../core/alarm.hpp"
#include "../core/fork_mark.hpp"

#include <pawl/backend.hpp>

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::redis {

// One request that ends something; it may be sent any number of times.
using saying = std::function<boost::asio::awaitable<reply>(time_point give_up_at)>;

// Used on one strand. While the server answers, every undo is sent at once. When it refuses one, or
// does not answer, one at a time is tried, after a pause that grows, until one succeeds.
class undo_queue : public std::enable_shared_from_this<undo_queue> {
public:
    undo_queue(link& over, backend_context context, const limits& bounds);

    struct undo {
        std::string lock;   // its key
        std::string value;  // the caller's own, where it chose one
        saying request;
        time_point lease_end{};        // of what is undone, if it was carried out in time
        duration patience{};           // for an answer
        std::uint64_t generation = 0;  // of the connection over which went what is undone
    };
    class entry {
    public:
        explicit entry(undo of) : what(std::move(of)) {}
        undo what;

    private:
        friend class undo_queue;
        time_point due_{};
        duration pause_{};  // after the last confirmation
        unsigned confirmed_ = 0;
        bool in_flight_ = false;
        bool refused_ = false;  // the server has answered, and said no
    };
    // An undo that is made before the request that it undoes is sent: adding it needs no memory.
    using prepared = std::list<entry>;
    [[nodiscard]] static prepared prepare(undo what);

    // Sends it until the server has confirmed it, or has said that it never will, or has
    // said no until `lease_end`. What went over another connection than the undo may still be
    // carried out after it: then it is repeated until `lease_end`, less and less often, and three
    // times at least; an undo with a `value`, or of a client that closes, three times only.
    // Without memory it is tried again with the next undo, or the next connection.
    void add(prepared what) noexcept;

    [[nodiscard]] bool contains(std::string_view lock, std::string_view value) const;
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    // So many are pending that nothing may be asked for that might have to be undone, too.
    [[nodiscard]] bool full() const noexcept;

    // There is a new connection: what is pending is tried now.
    void try_now();
    // There is no time left: the same, and what is refused for want of a right is given up.
    void try_for_the_last_time();
    // The link is closed, or the parent's: what is under way fails, and nothing else is sent.
    void stop();

private:
    using position = std::list<entry>::iterator;
    enum class outcome : std::uint8_t { confirmed, impossible, refused, failed };

    class running;
    class sending;

    boost::asio::awaitable<void> run(std::shared_ptr<undo_queue> self);
    boost::asio::awaitable<void> send(std::shared_ptr<undo_queue> self, position at);
    void go_on() noexcept;
    boost::asio::awaitable<outcome> ask(const undo& what);
    void start(position at) noexcept;
    void start_due(time_point now) noexcept;
    void drop_expired(time_point now);
    void say(const std::string& line) const noexcept;
    void settle(position at, outcome how);
    void failed(position at, time_point now);
    [[nodiscard]] bool is_over(const entry& one, time_point now) const noexcept;
    [[nodiscard]] bool is_confirmed(const entry& one, time_point now) const noexcept;
    [[nodiscard]] time_point next_start() const;

    const core::fork_mark made_in_;
    link& link_;
    const backend_context context_;
    const limits bounds_;
    std::list<entry> entries_;
    std::size_t in_flight_ = 0;
    back_off pause_;
    bool failing_ = false;
    time_point retry_at_{};
    core::alarm changed_;
    bool running_ = false;
    bool closing_ = false;
    bool stopped_ = false;
};

}  // namespace pawl::redis
