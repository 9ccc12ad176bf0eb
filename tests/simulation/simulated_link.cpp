#include "simulated_link.hpp"

#include "latch_bugs.hpp"
#include "replies.hpp"

#include <core/alarm.hpp>
#include <pawl/error.hpp>
#include <redis/server_errors.hpp>
#include <redis/subscriptions.hpp>
#include <redis_scripts.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <optional>
#include <set>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

using redis::link;
using redis::reply;

constexpr auto connect_timeout = 5s;
constexpr auto refused_for = 1s;
constexpr std::array hold_scripts{&redis::scripts::acquire, &redis::scripts::join,
                                  &redis::scripts::several};

bool makes_holds(std::string_view script) {
    return std::ranges::any_of(hold_scripts, [&](const redis::script* each) {
        return script == each->sha1 || script == each->text;
    });
}

// One command between its sending and its reply, or its failure.
struct request {
    request(runtime& time, const asio::any_io_executor& on) : settled(time, on) {}
    words command;
    core::alarm settled;
    std::optional<reply> answer;
    std::string failure;
};

// Of the words, some a whole script, the real link keeps none until the reply.
void copy_words(std::span<const std::string_view> from, request& to) {
    const own_bookkeeping uncounted;
    to.command.assign(from.begin(), from.end());
}

class client_end final : public simulated_network::endpoint,
                         public std::enable_shared_from_this<client_end> {
public:
    client_end(simulated_network& network, process& home, const backend_context& context,
               const redis::options& where, planted bug, link::listener& to, std::string channel)
        : network_(network),
          home_(home),
          context_(context),
          reply_timeout_(where.reply_timeout),
          database_(std::to_string(where.database)),
          bug_(bug),
          listener_(&to),
          channel_(std::move(channel)),
          latch_bugs_(bug),
          change_(*context.time, context.strand),
          tick_(*context.time, context.strand) {
        tick_.prepare();
    }

    asio::awaitable<reply> exec(std::span<const std::string_view> words_of_it,
                                time_point give_up_at, bool tracked);
    asio::awaitable<void> subscribe(std::string channel, time_point give_up_at);
    void unsubscribe(const std::string& channel) noexcept;
    asio::awaitable<void> close(time_point give_up_at);
    void forget_listener() noexcept { listener_ = nullptr; }
    [[nodiscard]] const redis::session& current() const noexcept { return session_; }
    [[nodiscard]] bool connected() const noexcept { return ready_; }

    process& home() override { return home_; }
    void run_on_strand(task what) override { asio::post(context_.strand, std::move(what)); }
    void on_reply(std::uint64_t wire, reply answer) override;
    void on_push(std::uint64_t wire, words message) override;
    void on_closed(std::uint64_t wire) override;

private:
    struct gate {
        gate(runtime& time, const asio::any_io_executor& on)
            : opened(time, on), since(time.now()) {}
        core::alarm opened;
        time_point since;
        bool refused = false;
    };

    asio::awaitable<void> run(std::shared_ptr<client_end> self);
    asio::awaitable<void> wait_ready(time_point give_up_at);
    void greet();
    void greeted(const reply& answer);
    void tell(words command);
    void leave(const std::string& channel) noexcept;
    [[nodiscard]] asio::awaitable<reply> ask(std::shared_ptr<request> asked, time_point give_up_at);
    void send(const std::shared_ptr<request>& one);
    [[nodiscard]] bool drops(const words& command);
    void reuse_owners(words& command);
    void went_down();
    void hang_up();
    template <class Work>
    void notify(Work work);

    simulated_network& network_;
    process& home_;
    backend_context context_;
    duration reply_timeout_;
    const std::string database_;
    planted bug_;
    link::listener* listener_;
    const std::string channel_;
    redis::subscriptions heard_;
    std::vector<std::string> greeted_with_;  // the channels that the greeting subscribes to
    latch_bugs latch_bugs_;

    std::uint64_t wire_ = 0;
    bool running_ = false;
    bool closing_ = false;
    bool ready_ = false;
    bool broken_ = false;
    int greeting_left_ = 0;
    redis::session session_;
    core::alarm change_;  // the connection is ready, broken or to be closed
    core::alarm tick_;    // of `close`
    std::list<gate*> gates_;
    std::list<std::shared_ptr<request>> sent_;   // unanswered, in order; abandoned ones too
    std::set<std::string> not_undone_;           // a planted bug's: owners
    std::map<std::string, std::string> reused_;  // another's: the owner that stands for one
    std::map<std::string, std::string> meant_;   // whom it stands for now
    int turn_ = 0;
};

void client_end::greet() {
    const own_bookkeeping uncounted;
    if (!home_.has().has_descriptors()) {
        broken_ = true;
        change_.ring();
        return;
    }
    wire_ = network_.connect(weak_from_this());
    broken_ = false;
    // A planted bug: the database is chosen once.
    const bool chosen = bug_ == planted::database_chosen_once && session_.generation > 0;
    greeting_left_ = 2;
    network_.send(wire_, {"HELLO"});
    if (database_ == "0" || chosen) return;
    ++greeting_left_;
    network_.send(wire_, {"SELECT", database_});
}

void client_end::greeted(const reply& answer) {
    const own_bookkeeping uncounted;
    --greeting_left_;
    if (!answer.items.empty())
        session_ = {session_.generation + 1, answer.items.at(0).text, "7.0.15", "redis",
                    answer.items.at(1).number};
    if (greeting_left_ == 1) {
        greeted_with_ = heard_.all();
        words join{"SUBSCRIBE"};
        if (!channel_.empty()) join.push_back(channel_);
        join.insert(join.end(), greeted_with_.begin(), greeted_with_.end());
        if (join.size() == 1) join = {"PING"};
        network_.send(wire_, latch_bugs_.sent(std::move(join)));
    }
    if (greeting_left_ > 0) return;
    ready_ = true;
    notify([this] { listener_->on_connected(session_); });
    for (auto* const waiting : gates_)
        waiting->opened.ring();
    for (const auto& again : sent_)
        network_.send(wire_, again->command);
    for (const auto& unwanted : heard_.greeted(std::move(greeted_with_)))
        leave(unwanted);
    change_.ring();
}

asio::awaitable<void> client_end::run(std::shared_ptr<client_end> self) {
    auto pause = duration(20ms);
    while (!closing_) {
        greet();
        co_await change_.wait_until(context_.time->now() + reply_timeout_);
        const auto began = context_.time->now();
        if (ready_) {
            while (!broken_ && !closing_)
                co_await change_.wait_until(time_point::max());
        }
        hang_up();
        if (ready_ && context_.time->now() - began >= 1s) pause = 20ms;
        went_down();
        if (closing_) break;
        co_await change_.wait_until(context_.time->now() + pause);
        pause = std::min<duration>(pause * 2, 1s);
    }
    self.reset();
}

void client_end::hang_up() {
    const own_bookkeeping uncounted;
    network_.close(wire_);
}

// What the listener has no memory for ends the connection, as with the real one.
template <class Work>
void client_end::notify(Work work) {
    if (listener_ == nullptr) return;
    const allocating_for the_program(&home_.has().memory());
    try {
        work();
    } catch (const std::bad_alloc&) {
        broken_ = true;
        change_.ring();
    }
}

void client_end::went_down() {
    const own_bookkeeping uncounted;
    ready_ = false;
    wire_ = 0;
    heard_.forget_all();
    for (const auto& one : std::exchange(sent_, {})) {
        // The planted bug: sent again, although it may have been carried out.
        if (bug_ == planted::resent_after_loss && !closing_) {
            sent_.push_back(one);
            continue;
        }
        one->failure = "the connection broke";
        one->settled.ring();
    }
    const auto now = context_.time->now();
    for (auto* const waiting : gates_) {
        waiting->refused = closing_ || now - waiting->since >= refused_for;
        if (waiting->refused) waiting->opened.ring();
    }
}

asio::awaitable<void> client_end::wait_ready(time_point give_up_at) {
    if (closing_) throw error(errc::cancelled, "The client is closed.");
    change_.prepare();
    if (!std::exchange(running_, true))
        asio::co_spawn(context_.strand, run(shared_from_this()), asio::detached);
    gate mine(*context_.time, context_.strand);
    const auto here = gates_.insert(gates_.end(), &mine);
    struct leaving {
        std::list<gate*>& gates;
        std::list<gate*>::iterator here;
        ~leaving() { gates.erase(here); }
    } const at_the_end{gates_, here};
    const auto until = std::min(give_up_at, mine.since + connect_timeout);
    while (!ready_) {
        const bool rung = co_await mine.opened.wait_until(until);
        if (mine.refused || (!rung && !ready_))
            throw error(errc::unreachable, "The simulated server cannot be reached.");
    }
}

void client_end::send(const std::shared_ptr<request>& one) {
    const own_bookkeeping uncounted;
    sent_.push_back(one);
    network_.send(wire_, one->command);
}

// Nobody waits for its answer.
void client_end::tell(words command) {
    const auto told = std::make_shared<request>(*context_.time, context_.strand);
    told->command = latch_bugs_.sent(std::move(command));
    send(told);
}

// Planted bugs: what is undone, is not said.
bool client_end::drops(const words& command) {
    const auto is = [&](const redis::script& which) {
        return command.size() > 1 && (command[1] == which.sha1 || command[1] == which.text);
    };
    if (bug_ == planted::several_undoes_one && is(redis::scripts::several)) {
        const auto second = 3 + std::stoul(command[2]) + 3;
        for (auto value = second; value < command.size(); ++value)
            not_undone_.insert(command[value].substr(0, command[value].find(';')));
    }
    if (!is(redis::scripts::leave)) return false;
    if (bug_ == planted::leave_not_sent) return true;
    const auto& member = command.at(3 + std::stoul(command[2]) + 2);
    return not_undone_.contains(member.substr(member.find(':') + 1));
}

// A planted bug: the owners of a program's requests differ in a number that is soon the same again,
// as where it is the last digits of an attempt.
void client_end::reuse_owners(words& command) {
    const auto owner_at = [](const std::string& word) {
        if (word.size() >= 49 && word[16] == ':') return std::size_t{17};
        return word.size() > 32 && word[32] == ';' ? std::size_t{0} : word.npos;
    };
    for (std::size_t i = 3; i < command.size(); ++i) {
        const auto at = owner_at(command[i]);
        if (at == command[i].npos) continue;
        const auto owner = command[i].substr(at, 32);
        auto& other = reused_[owner];
        if (other.empty()) {
            other = channel_.substr(channel_.size() - 16) + "000000000000000" + char('0' + turn_);
            turn_ = (turn_ + 1) % 6;
            meant_[other] = owner;
        }
        command[i].replace(at, 32, other);
    }
}

asio::awaitable<reply> client_end::exec(std::span<const std::string_view> words_of_it,
                                        time_point give_up_at, bool tracked) {
    // Also where there is no timer for it: the client does not ask whether it was sent.
    const bool is_script = words_of_it.size() > 1 && words_of_it[0].starts_with("EVAL");
    if (is_script && makes_holds(words_of_it[1])) home_.count_hold_request();
    const auto one = std::make_shared<request>(*context_.time, context_.strand);
    one->settled.prepare();
    copy_words(words_of_it, *one);
    if (bug_ == planted::owners_come_back) reuse_owners(one->command);
    if (drops(one->command)) co_return integer_reply(0);
    one->command = latch_bugs_.sent(std::move(one->command));
    if (!ready_) co_await wait_ready(give_up_at);
    if (tracked) {
        const auto before = std::make_shared<request>(*context_.time, context_.strand);
        before->command = {"CLIENT", "CACHING", "YES"};
        send(before);
    }
    auto answer = co_await ask(one, give_up_at);
    latch_bugs_.answered(one->command, answer);
    co_return answer;
}

asio::awaitable<reply> client_end::ask(std::shared_ptr<request> one, time_point give_up_at) {
    const auto answer_by = context_.time->now() + reply_timeout_;
    send(one);
    // The real one looks ten times a second whether somebody gave up.
    const auto looked_at = std::max(give_up_at, context_.time->now());
    const auto until = looked_at > answer_by - 100ms ? answer_by : looked_at + 100ms;
    const bool settled = co_await one->settled.wait_until(until);
    if (!settled && !one->answer && one->failure.empty()) {
        one->failure = "no answer in time";
        if (until == answer_by) {
            broken_ = true;
            change_.ring();
        }
    }
    if (one->answer) co_return std::move(*one->answer);
    throw redis::connection_lost(one->failure);
}

// As the real one's: a connection that comes meanwhile subscribes by itself.
asio::awaitable<void> client_end::subscribe(std::string channel, time_point give_up_at) {
    heard_.join(channel);
    struct joined {
        client_end& home;
        const std::string& channel;
        bool kept = false;
        ~joined() {
            if (!kept) home.unsubscribe(channel);
        }
    } mine{*this, channel};
    while (!heard_.heard(channel)) {
        if (!ready_) {
            co_await wait_ready(give_up_at);
            continue;
        }
        const auto on = wire_;
        const auto asked = std::make_shared<request>(*context_.time, context_.strand);
        asked->command = latch_bugs_.sent({"SUBSCRIBE", channel});
        const auto answer = co_await ask(asked, give_up_at);
        redis::refuse_errors(answer, channel);
        if (ready_ && wire_ == on) heard_.confirm(channel);
    }
    mine.kept = true;
}

void client_end::unsubscribe(const std::string& channel) noexcept {
    if (heard_.leave(channel) && ready_ && !closing_) leave(channel);
}

// As the real one's: without memory the server is not told.
void client_end::leave(const std::string& channel) noexcept {
    try {
        tell({"UNSUBSCRIBE", channel});
    } catch (const std::bad_alloc&) {}
}

void client_end::on_reply(std::uint64_t wire, reply answer) {
    const own_bookkeeping uncounted;
    if (wire != wire_ || broken_) return;
    if (greeting_left_ > 0) return greeted(answer);
    const auto one = std::move(sent_.front());
    sent_.pop_front();
    one->answer = std::move(answer);
    one->settled.ring();
}

void client_end::on_push(std::uint64_t wire, words message) {
    if (wire != wire_ || broken_ || listener_ == nullptr) return;
    const own_bookkeeping uncounted;
    if (message[0] == "invalidate") return notify([&] { listener_->on_invalidate(message[1]); });
    if (bug_ == planted::grants_dropped && message[2].starts_with("grant")) return;
    for (const auto& [other, owner] : meant_)
        if (const auto at = message[2].find(other); at != message[2].npos)
            message[2].replace(at, other.size(), owner);
    if (message[1] == channel_) return notify([&] { listener_->on_message(channel_, message[2]); });
    latch_bugs_.heard(message[1], message[2]);
    for (const auto& channel : latch_bugs_.meant(message[1], heard_))
        notify([&] { listener_->on_message(channel, message[2]); });
}

void client_end::on_closed(std::uint64_t wire) {
    if (wire != wire_) return;
    broken_ = true;
    change_.ring();
}

asio::awaitable<void> client_end::close(time_point give_up_at) {
    while (ready_ && !sent_.empty() && context_.time->now() < give_up_at)
        co_await tick_.wait_until(context_.time->now() + 1ms);
    closing_ = true;
    change_.ring();
}

class simulated_link final : public link {
public:
    explicit simulated_link(std::shared_ptr<client_end> to) : end_(std::move(to)) {}
    ~simulated_link() override { end_->forget_listener(); }

    asio::awaitable<reply> exec(std::span<const std::string_view> words_of_it,
                                time_point give_up_at) override {
        return end_->exec(words_of_it, give_up_at, false);
    }
    asio::awaitable<reply> exec_tracked(std::span<const std::string_view> words_of_it,
                                        time_point give_up_at) override {
        return end_->exec(words_of_it, give_up_at, true);
    }
    asio::awaitable<void> subscribe(std::string channel, time_point give_up_at) override {
        return end_->subscribe(std::move(channel), give_up_at);
    }
    void unsubscribe(const std::string& channel) noexcept override { end_->unsubscribe(channel); }
    const redis::session& current() const noexcept override { return end_->current(); }
    bool connected() const noexcept override { return end_->connected(); }
    asio::awaitable<void> close(time_point give_up_at) override { return end_->close(give_up_at); }

private:
    std::shared_ptr<client_end> end_;
};

}  // namespace

redis::link_factory simulated_link_factory(simulated_network& network, process& home,
                                           const backend_context& context,
                                           const redis::options& where, planted bug) {
    return [&network, &home, context, where, bug](link::listener& to, const std::string& channel) {
        return std::make_unique<simulated_link>(
            std::make_shared<client_end>(network, home, context, where, bug, to, channel));
    };
}

}  // namespace pawl::simulation
