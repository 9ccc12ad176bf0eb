#include "toolbox.hpp"

#include <memory>
#include <mutex>
#include <sstream>

namespace pawl::conformance {

void require(bool holds, const std::string& sentence) {
    if (!holds) throw broken(sentence);
}

std::string shown(lock_state value) { return to_string(value); }

std::string shown(loss_reason value) { return to_string(value); }

std::string shown(release_result value) { return to_string(value); }

std::string shown(errc value) { return make_error_code(value).message(); }

std::string shown(bool value) { return value ? "yes" : "no"; }

std::string shown(fencing_token value) { return to_string(value); }

std::string shown(const std::string& value) { return '"' + value + '"'; }

std::string shown(const std::optional<errc>& value) { return value ? shown(*value) : "no error"; }

bool eventually(const std::function<bool()>& effect, duration bound) {
    const time_point give_up_at = boot_clock::now() + bound;
    while (!effect()) {
        if (boot_clock::now() >= give_up_at) return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

std::optional<errc> failure_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const error& failure) {
        return failure.reason();
    }
    return std::nullopt;
}

std::uint64_t waiters_of(blocking::client& eyes, const std::string& name) {
    return eyes.inspect(name).waiters;
}

bool has_waiters(blocking::client& eyes, const std::string& name, std::uint64_t count) {
    return eventually([&] { return waiters_of(eyes, name) == count; });
}

bool is_free(blocking::client& eyes, const std::string& name) {
    return !eyes.inspect(name).held_by;
}

agent::agent(const world& where) : process_(myself_as_helper({"agent", where.url})) {
    require_equal(answer(), std::string("ready"), "the first line of a helper process");
}

std::string agent::answer(duration bound) {
    auto line = process_.read_line(std::chrono::ceil<std::chrono::milliseconds>(bound));
    require(line.has_value(), "a helper process gave no answer in time");
    return *line;
}

std::string agent::ask(const std::string& command, duration bound) {
    tell(command);
    return answer(bound);
}

fencing_token agent::acquire(const std::string& name, duration ttl, duration bound) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(ttl).count();
    return token_in(ask("acquire " + name + " " + std::to_string(ms) + " forever", bound));
}

fencing_token token_in(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    std::uint64_t token = 0;
    words >> verb >> token;
    require(verb == "held", "a helper process answered \"" + line + "\" instead of \"held …\"");
    return fencing_token(token);
}

aside::aside(std::function<void()> work)
    : thread_([this, work = std::move(work)] {
          try {
              work();
          } catch (...) {
              thrown_ = std::current_exception();
          }
          done_ = true;
      }) {}

void aside::get_soon(const std::string& what) {
    require(eventually([this] { return done_.load(); }), what + " took too long");
    get();
}

void aside::get() {
    if (thread_.joinable()) thread_.join();
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void turnstile::enter() {
    if (inside_.fetch_add(1) != 0) shared_ = true;
}

void turnstile::leave() { inside_.fetch_sub(1); }

void require_order_of_arrival(const world& here, std::size_t clients, std::size_t waiters,
                              lock_options how) {
    std::vector<std::unique_ptr<blocking::client>> all;
    for (std::size_t i = 0; i < clients; ++i)
        all.push_back(std::make_unique<blocking::client>(here.where));
    auto lock = all[0]->acquire("it", how);
    std::mutex guard;
    std::vector<std::size_t> order, wanted;
    std::vector<std::unique_ptr<aside>> crowd;
    for (std::size_t i = 0; i < waiters; ++i) {
        wanted.push_back(i);
        crowd.push_back(std::make_unique<aside>([&, i] {
            auto turn = all[(i + 1) % clients]->acquire("it", how);
            const std::scoped_lock alone(guard);
            order.push_back(i);
        }));
        require(has_waiters(*all[0], "it", i + 1), "a waiter is not to be seen");
    }
    require_equal(lock.release(), release_result::released, "release");
    for (auto& each : crowd)
        each->get();
    require(order == wanted, "the waiters were not served in their order");
}

}  // namespace pawl::conformance
