// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Read/write locks.
#include "test_groups.hpp"

namespace pawl::conformance {

namespace {

using blocking::held_lock;

constexpr lock_options reading{.ttl = long_ttl, .wait = wait_bound, .mode = lock_mode::shared};
constexpr lock_options writing{.ttl = long_ttl, .wait = wait_bound};
constexpr try_options try_reading{.ttl = long_ttl, .mode = lock_mode::shared};
constexpr try_options try_writing{.ttl = long_ttl};

bool with_sharing(const capabilities& supported) { return supported.shared; }
bool with_queued_sharing(const capabilities& supported) {
    return supported.shared && supported.modes_share_queue;
}
bool with_sharing_across_processes(const capabilities& supported) {
    return supported.shared && supported.across_processes;
}
bool with_fenced_sharing(const capabilities& supported) {
    return supported.shared && supported.fencing;
}

void readers_share(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    auto first = first_client.acquire("it", reading);
    auto second = first_client.try_acquire("it", try_reading);
    auto third = second_client.acquire("it", reading);
    require(first.owns_lock() && second && third.owns_lock(), "readers exclude each other");
    const lock_info info = second_client.inspect("it");
    require(info.held_by && info.others.size() == 2, "inspect does not show three readers");
    require(info.held_by->mode == lock_mode::shared && info.others[0].mode == lock_mode::shared,
            "a reader is shown in another mode");
    require_equal(second.release(), release_result::released, "release of one of three readers");
    require_equal(first.release(), release_result::released, "release of the first reader");
    require(third.owns_lock() && !first_client.try_acquire("it", try_writing).owns_lock(),
            "the last reader does not exclude a writer");
    require_equal(third.release(), release_result::released, "release of the last reader");
    require(is_free(first_client, "it"), "the lock is held after its last reader");
}

void a_writer_excludes_readers(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    auto writer = first_client.acquire("it", writing);
    require(!second_client.try_acquire("it", try_reading).owns_lock() &&
                !first_client.try_acquire("it", try_reading).owns_lock(),
            "a reader was granted beside a writer");
    require_equal(writer.release(), release_result::released, "the writer's release");
    auto reader = second_client.try_acquire("it", try_reading);
    require(static_cast<bool>(reader), "a reader cannot acquire the lock after the writer");
    require(!first_client.try_acquire("it", try_writing).owns_lock(),
            "a writer was granted beside a reader");
}

struct guarded_record {
    std::atomic<int> readers = 0, writers = 0, most_readers = 0;
    std::atomic<bool> is_torn = false;

    void read() {
        const int now = ++readers;
        for (int most = most_readers; most < now;)
            if (most_readers.compare_exchange_weak(most, now)) break;
        std::this_thread::yield();
        if (writers != 0) is_torn = true;
        --readers;
    }
    void write() {
        if (++writers != 1 || readers != 0) is_torn = true;
        std::this_thread::yield();
        if (writers-- != 1 || readers != 0) is_torn = true;
    }
};

void a_crowd_reads_and_writes(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    guarded_record record;
    std::vector<std::unique_ptr<background_task>> crowd;
    for (int i = 0; i < 6; ++i)
        crowd.push_back(std::make_unique<background_task>([&, i] {
            blocking::client locks(env.target, long_tries);
            for (int round = 0; round < 25; ++round) {
                const bool writes = (round + i) % 4 == 0;
                auto lock = locks.acquire("it", writes ? writing : reading);
                writes ? record.write() : record.read();
                release_in_time(std::move(lock), "release by a thread");
            }
        }));
    for (auto& each : crowd)
        each->get();
    require(!record.is_torn, "a thread read beside a writer, or two threads wrote");
    blocking::client observer(env.target, long_tries);
    require(has_waiters(service_fixture, observer, "it", 0) && is_free(observer, "it"),
            "a lock is held when all threads are done");
}

// R1 reads, W waits, R2 comes: it waits behind W.
void a_waiting_writer_is_not_starved(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client readers(env.target, long_tries), writers(env.target, long_tries);
    auto first = readers.acquire("it", reading);
    held_lock writer, late_reader;
    background_task writes([&] { writer = writers.acquire("it", writing); });
    require(has_waiters(service_fixture, readers, "it", 1), "the writer is not seen in the queue");
    require(!readers.try_acquire("it", try_reading).owns_lock(),
            "a reader passed a waiting writer");
    background_task reads([&] { late_reader = readers.acquire("it", reading); });
    require(has_waiters(service_fixture, readers, "it", 2),
            "the late reader does not wait behind the writer");
    require_equal(first.release(), release_result::released, "the first reader's release");
    writes.get_soon("the writer's turn");
    require_equal(waiters_of(readers, "it"), std::uint64_t{1}, "the waiters for the writer");
    require_equal(writer.release(), release_result::released, "the writer's release");
    reads.get_soon("the late reader's turn");
    require(late_reader.owns_lock(), "the late reader was never granted the lock");
}

// All inside at the same time: each waits there for the others.
void readers_behind_a_writer_come_in_together(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client writers(env.target, long_tries), first_client(env.target, long_tries),
        second_client(env.target, long_tries);
    auto writer = writers.acquire("it", writing);
    std::atomic<int> inside = 0;
    std::vector<std::unique_ptr<background_task>> crowd;
    for (int i = 0; i < 5; ++i)
        crowd.push_back(std::make_unique<background_task>([&, i] {
            auto lock = (i % 2 == 0 ? first_client : second_client).acquire("it", reading);
            ++inside;
            require(eventually([&] { return inside == 5; }),
                    "the readers did not hold the lock together");
        }));
    require(has_waiters(service_fixture, writers, "it", 5),
            "the readers are not seen in the queue");
    require_equal(writer.release(), release_result::released, "the writer's release");
    for (auto& each : crowd)
        each->get_soon("the readers' turn");
}

// R1 reads, W waits, R2 waits behind W; W gives up, and nothing excludes R2 any more.
void a_writer_that_gives_up_lets_readers_pass(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client readers(env.target, long_tries), writers(env.target, long_tries);
    auto first = readers.acquire("it", reading);
    std::stop_source enough;
    background_task writes([&] {
        const auto why =
            failure_of([&] { (void)writers.acquire("it", writing, enough.get_token()); });
        require_equal(why, errc::cancelled, "a writer that gave up");
    });
    require(has_waiters(service_fixture, readers, "it", 1), "the writer is not seen in the queue");
    held_lock late_reader;
    background_task reads([&] { late_reader = readers.acquire("it", reading); });
    require(has_waiters(service_fixture, readers, "it", 2),
            "the late reader does not wait behind the writer");
    enough.request_stop();
    writes.get();
    reads.get_soon("the late reader's turn");
    require(first.owns_lock() && late_reader.owns_lock(), "the readers do not share the lock");
}

// The same with a writer that is killed while it waits.
void a_killed_writer_lets_readers_pass(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client readers(env.target, long_tries);
    auto first = readers.acquire("it", reading);
    agent writer(env);
    writer.send("take exclusive it 60000 forever");
    require(has_waiters(service_fixture, readers, "it", 1), "the writer is not seen in the queue");
    writer.process().kill_and_reap();
    auto late_reader =
        readers.acquire("it", {.ttl = long_ttl, .wait = soon, .mode = lock_mode::shared});
    require(late_reader.owns_lock(), "a dead writer excludes readers");
}

void a_killed_reader_leaves_after_its_ttl(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    agent reader(env);
    auto beside = locks.acquire("it", reading);
    require_equal(token_in(reader.request("take shared it " + milliseconds_text(ttl) + " forever")),
                  beside.token(), "the token of a reader in another process");
    held_lock writer;
    background_task writes([&] {
        writer = locks.acquire(
            "it", {.ttl = long_ttl, .wait = soon + takeover_time(service_fixture, ttl)});
    });
    require(has_waiters(service_fixture, locks, "it", 1), "the writer is not seen in the queue");
    reader.process().kill_and_reap();
    require_equal(beside.release(), release_result::released, "the living reader's release");
    writes.get();
    require(!beside.token() || writer.token() > beside.token(), "the writer's token is not later");
}

void readers_of_a_phase_have_one_token(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    auto first = first_client.acquire("it", reading);
    auto second = second_client.acquire("it", reading);
    require(static_cast<bool>(first.token()), "a reader has no token");
    require_equal(second.token(), first.token(), "the token of the second reader");
    (void)first.release();
    auto third = first_client.acquire("it", reading);
    require_equal(third.token(), second.token(), "the token of a later reader");
    (void)second.release();
    (void)third.release();
    auto writer = first_client.acquire("it", writing);
    require(writer.token() > third.token(), "a writer's token is not later than the readers'");
    (void)writer.release();
    auto after = second_client.acquire("it", reading);
    require(after.token() > writer.token(), "a reader's token is not later than the writer's");
    (void)after.release();
    auto next = second_client.acquire("it", reading);
    require(next.token() > after.token(), "readers of two phases have one token");
}

void an_owner_that_reads_cannot_write(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    blocking::lock_owner owner(locks);
    auto reads = owner.acquire("it", reading);
    auto second_hold = owner.acquire("it", reading);
    require_equal(failure_of([&] { (void)owner.acquire("it", writing); }), errc::bad_option,
                  "an owner with a shared hold that requests an exclusive one");
    require(reads.owns_lock() && second_hold.owns_lock(),
            "the refused request cost the owner its lock");
    (void)reads.release();
    (void)second_hold.release();
    auto writes = owner.acquire("it", writing);
    require(owner.acquire("it", reading).owns_lock(),
            "an owner with an exclusive hold cannot acquire a shared one");
}

constexpr test_case list[] = {
    {"readers_share", with_sharing, readers_share},
    {"a_writer_excludes_readers", with_sharing, a_writer_excludes_readers},
    {"a_crowd_reads_and_writes", with_sharing, a_crowd_reads_and_writes},
    {"a_waiting_writer_is_not_starved", with_queued_sharing, a_waiting_writer_is_not_starved},
    {"readers_behind_a_writer_come_in_together", with_queued_sharing,
     readers_behind_a_writer_come_in_together},
    {"a_writer_that_gives_up_lets_readers_pass", with_queued_sharing,
     a_writer_that_gives_up_lets_readers_pass},
    {"a_killed_writer_lets_readers_pass", with_sharing_across_processes,
     a_killed_writer_lets_readers_pass},
    {"a_killed_reader_leaves_after_its_ttl", with_sharing_across_processes,
     a_killed_reader_leaves_after_its_ttl},
    {"readers_of_a_phase_have_one_token", with_fenced_sharing, readers_of_a_phase_have_one_token},
    {"an_owner_that_reads_cannot_write", with_sharing, an_owner_that_reads_cannot_write},
};

}  // namespace

std::span<const test_case> shared_tests() noexcept { return list; }

}  // namespace pawl::conformance
