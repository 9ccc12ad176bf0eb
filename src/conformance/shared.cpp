// Read/write locks.
#include "lists.hpp"

namespace pawl::conformance {

namespace {

using blocking::held_lock;

constexpr lock_options reading{.ttl = long_ttl, .wait = patience, .mode = lock_mode::shared};
constexpr lock_options writing{.ttl = long_ttl, .wait = patience};
constexpr try_options try_reading{.ttl = long_ttl, .mode = lock_mode::shared};
constexpr try_options try_writing{.ttl = long_ttl};

bool with_sharing(const promises& promised) { return promised.shared; }
bool with_sharing_in_line(const promises& promised) { return promised.shared && promised.one_line; }
bool with_sharing_processes(const promises& promised) {
    return promised.shared && promised.across_processes;
}
bool with_fenced_sharing(const promises& promised) { return promised.shared && promised.fencing; }

void readers_share(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    auto first = one.acquire("it", reading);
    auto second = one.try_acquire("it", try_reading);
    auto third = two.acquire("it", reading);
    require(first.owns_lock() && second && third.owns_lock(), "readers keep each other out");
    const lock_info found = two.inspect("it");
    require(found.held_by && found.others.size() == 2, "three readers are not to be seen as three");
    require(found.held_by->mode == lock_mode::shared && found.others[0].mode == lock_mode::shared,
            "a reader is not shown as one");
    require_equal(second.release(), release_result::released, "release of one of three readers");
    require_equal(first.release(), release_result::released, "release of the first reader");
    require(third.owns_lock() && !one.try_acquire("it", try_writing).owns_lock(),
            "the last reader is gone");
    require_equal(third.release(), release_result::released, "release of the last reader");
    require(is_free(one, "it"), "the lock is held after its last reader");
}

void a_writer_excludes_readers(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    auto writer = one.acquire("it", writing);
    require(!two.try_acquire("it", try_reading).owns_lock() &&
                !one.try_acquire("it", try_reading).owns_lock(),
            "a reader came in beside a writer");
    require_equal(writer.release(), release_result::released, "the writer's release");
    auto reader = two.try_acquire("it", try_reading);
    require(static_cast<bool>(reader), "a reader finds no free lock after the writer");
    require(!one.try_acquire("it", try_writing).owns_lock(), "a writer came in beside a reader");
}

struct book {
    std::atomic<int> readers = 0, writers = 0, most_readers = 0;
    std::atomic<bool> torn = false;

    void read() {
        const int now = ++readers;
        for (int most = most_readers; most < now;)
            if (most_readers.compare_exchange_weak(most, now)) break;
        std::this_thread::yield();
        if (writers != 0) torn = true;
        --readers;
    }
    void write() {
        if (++writers != 1 || readers != 0) torn = true;
        std::this_thread::yield();
        if (writers-- != 1 || readers != 0) torn = true;
    }
};

void a_crowd_reads_and_writes(fixture& of) {
    const world here = of.fresh();
    book it;
    std::vector<std::unique_ptr<aside>> crowd;
    for (int i = 0; i < 6; ++i)
        crowd.push_back(std::make_unique<aside>([&, i] {
            blocking::client locks(here.where);
            for (int round = 0; round < 25; ++round) {
                const bool writes = (round + i) % 4 == 0;
                auto lock = locks.acquire("it", writes ? writing : reading);
                writes ? it.write() : it.read();
                require_equal(lock.release(), release_result::released, "release in the crowd");
            }
        }));
    for (auto& each : crowd)
        each->get();
    require(!it.torn, "somebody read beside a writer, or two wrote");
    blocking::client eyes(here.where);
    require(has_waiters(eyes, "it", 0) && is_free(eyes, "it"), "something is left of the crowd");
}

// R1 reads, W waits, R2 comes: it stands behind W.
void a_waiting_writer_is_not_starved(fixture& of) {
    const world here = of.fresh();
    blocking::client readers(here.where), writers(here.where);
    auto first = readers.acquire("it", reading);
    held_lock writer, late;
    aside writes([&] { writer = writers.acquire("it", writing); });
    require(has_waiters(readers, "it", 1), "the writer is not to be seen waiting");
    require(!readers.try_acquire("it", try_reading).owns_lock(),
            "a reader passed a waiting writer");
    aside reads([&] { late = readers.acquire("it", reading); });
    require(has_waiters(readers, "it", 2), "the late reader does not wait behind the writer");
    require_equal(first.release(), release_result::released, "the first reader's release");
    writes.get_soon("the writer's turn");
    require_equal(waiters_of(readers, "it"), std::uint64_t{1}, "who waits for the writer");
    require_equal(writer.release(), release_result::released, "the writer's release");
    reads.get_soon("the late reader's turn");
    require(late.owns_lock(), "the late reader never came in");
}

// All inside at the same time: each waits there for the others.
void readers_behind_a_writer_come_in_together(fixture& of) {
    const world here = of.fresh();
    blocking::client writers(here.where), one(here.where), two(here.where);
    auto writer = writers.acquire("it", writing);
    std::atomic<int> inside = 0;
    std::vector<std::unique_ptr<aside>> crowd;
    for (int i = 0; i < 5; ++i)
        crowd.push_back(std::make_unique<aside>([&, i] {
            auto lock = (i % 2 == 0 ? one : two).acquire("it", reading);
            ++inside;
            require(eventually([&] { return inside == 5; }), "readers came in one by one");
        }));
    require(has_waiters(writers, "it", 5), "the readers are not to be seen waiting");
    require_equal(writer.release(), release_result::released, "the writer's release");
    for (auto& each : crowd)
        each->get_soon("the readers' turn");
}

// R1 reads, W waits, R2 stands behind W; W goes away, and nothing keeps R2 out any more.
void a_writer_that_gives_up_lets_readers_pass(fixture& of) {
    const world here = of.fresh();
    blocking::client readers(here.where), writers(here.where);
    auto first = readers.acquire("it", reading);
    std::stop_source enough;
    aside writes([&] {
        const auto why =
            failure_of([&] { (void)writers.acquire("it", writing, enough.get_token()); });
        require_equal(why, errc::cancelled, "a writer that gave up");
    });
    require(has_waiters(readers, "it", 1), "the writer is not to be seen waiting");
    held_lock late;
    aside reads([&] { late = readers.acquire("it", reading); });
    require(has_waiters(readers, "it", 2), "the late reader does not wait behind the writer");
    enough.request_stop();
    writes.get();
    reads.get_soon("the late reader's turn");
    require(first.owns_lock() && late.owns_lock(), "the readers do not share it");
}

// The same with a writer that is killed while it waits.
void a_killed_writer_lets_readers_pass(fixture& of) {
    const world here = of.fresh();
    blocking::client readers(here.where);
    auto first = readers.acquire("it", reading);
    agent writer(here);
    writer.tell("take exclusive it 60000 forever");
    require(has_waiters(readers, "it", 1), "the writer is not to be seen waiting");
    writer.process().kill9();
    auto late = readers.acquire("it", {.ttl = long_ttl, .wait = soon, .mode = lock_mode::shared});
    require(late.owns_lock(), "a dead writer keeps readers out");
}

void a_killed_reader_leaves_after_its_ttl(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    agent reader(here);
    auto beside = locks.acquire("it", reading);
    require_equal(token_in(reader.ask("take shared it 2000 forever")), beside.token(),
                  "the token of a reader in another process");
    held_lock writer;
    aside writes(
        [&] { writer = locks.acquire("it", {.ttl = long_ttl, .wait = soon + 2s + grace}); });
    require(has_waiters(locks, "it", 1), "the writer is not to be seen waiting");
    reader.process().kill9();
    require_equal(beside.release(), release_result::released, "the living reader's release");
    writes.get();
    require(!beside.token() || writer.token() > beside.token(), "the writer's token is not later");
}

void readers_of_a_phase_have_one_token(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    auto first = one.acquire("it", reading);
    auto second = two.acquire("it", reading);
    require(static_cast<bool>(first.token()), "a reader has no token");
    require_equal(second.token(), first.token(), "the token of the second reader");
    (void)first.release();
    auto third = one.acquire("it", reading);
    require_equal(third.token(), second.token(), "the token of one who joins later");
    (void)second.release();
    (void)third.release();
    auto writer = one.acquire("it", writing);
    require(writer.token() > third.token(), "a writer's token is not later than the readers'");
    (void)writer.release();
    auto after = two.acquire("it", reading);
    require(after.token() > writer.token(), "a reader's token is not later than the writer's");
    (void)after.release();
    auto next = two.acquire("it", reading);
    require(next.token() > after.token(), "readers of two phases have one token");
}

void an_owner_that_reads_cannot_write(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    blocking::lock_owner me(locks);
    auto reads = me.acquire("it", reading);
    auto again = me.acquire("it", reading);
    require_equal(failure_of([&] { (void)me.acquire("it", writing); }), errc::bad_option,
                  "an owner that reads and wants to write");
    require(reads.owns_lock() && again.owns_lock(), "asking in vain cost the owner its lock");
    (void)reads.release();
    (void)again.release();
    auto writes = me.acquire("it", writing);
    require(me.acquire("it", reading).owns_lock(), "an owner that writes may not read");
}

constexpr promise list[] = {
    {"readers_share", with_sharing, readers_share},
    {"a_writer_excludes_readers", with_sharing, a_writer_excludes_readers},
    {"a_crowd_reads_and_writes", with_sharing, a_crowd_reads_and_writes},
    {"a_waiting_writer_is_not_starved", with_sharing_in_line, a_waiting_writer_is_not_starved},
    {"readers_behind_a_writer_come_in_together", with_sharing_in_line,
     readers_behind_a_writer_come_in_together},
    {"a_writer_that_gives_up_lets_readers_pass", with_sharing_in_line,
     a_writer_that_gives_up_lets_readers_pass},
    {"a_killed_writer_lets_readers_pass", with_sharing_processes,
     a_killed_writer_lets_readers_pass},
    {"a_killed_reader_leaves_after_its_ttl", with_sharing_processes,
     a_killed_reader_leaves_after_its_ttl},
    {"readers_of_a_phase_have_one_token", with_fenced_sharing, readers_of_a_phase_have_one_token},
    {"an_owner_that_reads_cannot_write", with_sharing, an_owner_that_reads_cannot_write},
};

}  // namespace

std::span<const promise> shared_promises() noexcept { return list; }

}  // namespace pawl::conformance
