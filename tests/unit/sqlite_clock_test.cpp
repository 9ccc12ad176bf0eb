// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A boot clock that is not the host's: the two clocks' leases would mean different instants.
#include "lock_file_fixture.hpp"
#include "sqlite/file_location.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <iostream>

namespace backend_tests {
namespace {

using pawl::errc;

enum result : int { as_expected, not_as_expected, no_namespaces };

bool set_boot_offset(const std::string& seconds) {
    const std::string line = "boottime " + seconds + " 0";
    const int file = ::open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    const auto written = ::write(file, line.data(), line.size());
    ::close(file);
    return written == static_cast<ssize_t>(line.size());
}

// From now on, the children of this process are in their own time namespace.
bool set_clock_of_children(const std::string& offset) {
    const bool root = ::geteuid() == 0;
    return ::unshare(root ? CLONE_NEWTIME : CLONE_NEWTIME | CLONE_NEWUSER) == 0 &&
           set_boot_offset(offset);
}

bool is_refused(const std::string& part) {
    return bool(has_message(failure_of([] { (void)pawl::sqlite::current_boot_id(); }),
                            errc::unsupported, part));
}

template <class Body>
result run_in_its_child(Body body) {
    const int code = run_in_child([&] { return body() ? as_expected : not_as_expected; });
    return code == as_expected ? as_expected : not_as_expected;
}

void expect_result(int outcome) {
    if (outcome == no_namespaces)
        std::cout << "NOT RUN: this user may not make time namespaces" << std::endl;
    else
        EXPECT_EQ(outcome, as_expected);
}

// A holds the lock until 100 by the host's clock, at 50. B's clock says 150: for B the lease is
// over, and B would take the lock. So B must be refused earlier.
TEST(SqliteClock, ATimeNamespaceWithAnotherBootClockIsRefused) {
    for (const std::string offset : {"86400", "1"})
        expect_result(run_in_child([&] {
            if (!set_clock_of_children(offset)) return no_namespaces;
            return run_in_its_child([] { return is_refused("boot clock of its own"); });
        }));
}

// The kernel tells which clock a process's children will have. If they are in another namespace
// than the process, nothing tells which clock the process itself has.
TEST(SqliteClock, AProcessWhoseClockIsNotKnownIsRefused) {
    expect_result(run_in_child([] {
        if (!set_clock_of_children("86400")) return no_namespaces;
        if (!is_refused("for its children")) return not_as_expected;
        return run_in_its_child(
            [] { return set_clock_of_children("0") && is_refused("for its children"); });
    }));
}

// A time namespace whose boot clock is the host's does no harm.
TEST(SqliteClock, ATimeNamespaceWithTheHostsBootClockIsNotRefused) {
    const auto boot = pawl::sqlite::current_boot_id();
    expect_result(run_in_child([&] {
        if (!set_clock_of_children("0")) return no_namespaces;
        return run_in_its_child([&] { return pawl::sqlite::current_boot_id() == boot; });
    }));
}

}  // namespace
}  // namespace backend_tests
