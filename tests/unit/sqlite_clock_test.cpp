// A boot clock that is not the host's: leases of the two would mean different instants.
#include "sqlite/place.hpp"
#include "sqlite_world.hpp"

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

// The children of this process are in a time namespace of their own from now on.
bool children_get_a_clock(const std::string& offset) {
    const bool root = ::geteuid() == 0;
    return ::unshare(root ? CLONE_NEWTIME : CLONE_NEWTIME | CLONE_NEWUSER) == 0 &&
           set_boot_offset(offset);
}

bool refused(const std::string& part) {
    return bool(says(failure_of([] { (void)pawl::sqlite::this_boot(); }), errc::unsupported, part));
}

template <class Body>
result in_its_child(Body body) {
    const int code = in_a_child([&] { return body() ? as_expected : not_as_expected; });
    return code == as_expected ? as_expected : not_as_expected;
}

void expect(int outcome) {
    if (outcome == no_namespaces)
        std::cout << "NOT RUN: this user may not make time namespaces" << std::endl;
    else
        EXPECT_EQ(outcome, as_expected);
}

// A holds it until 100 by the host's clock, at 50. B's clock says 150: to B the lease is over, and
// B would take the lock. So B must not come as far.
TEST(sqlite_clock, a_time_namespace_with_another_boot_clock_is_refused) {
    for (const std::string offset : {"86400", "1"})
        expect(in_a_child([&] {
            if (!children_get_a_clock(offset)) return no_namespaces;
            return in_its_child([] { return refused("boot clock of its own"); });
        }));
}

// The kernel says which clock a process's children will have. Where these are in another namespace
// than the process, nothing says which clock it has itself.
TEST(sqlite_clock, a_process_whose_clock_is_not_known_is_refused) {
    expect(in_a_child([] {
        if (!children_get_a_clock("86400")) return no_namespaces;
        if (!refused("for its children")) return not_as_expected;
        return in_its_child(
            [] { return children_get_a_clock("0") && refused("for its children"); });
    }));
}

// A time namespace whose boot clock is the host's is as good as none.
TEST(sqlite_clock, a_time_namespace_with_the_hosts_boot_clock_is_not_refused) {
    const auto boot = pawl::sqlite::this_boot();
    expect(in_a_child([&] {
        if (!children_get_a_clock("0")) return no_namespaces;
        return in_its_child([&] { return pawl::sqlite::this_boot() == boot; });
    }));
}

}  // namespace
}  // namespace backend_tests
