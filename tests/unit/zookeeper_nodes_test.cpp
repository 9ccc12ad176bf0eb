// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The nodes of ZooKeeper's locks: paths of names, and the names of Curator, kazoo and Pawl.
#include "zookeeper/nodes.hpp"

#include <pawl/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace zookeeper_tests {
namespace {

using namespace pawl::zookeeper;
using pawl::lock_mode;

const std::string owner = "0123456789abcdef0123456789abcdef";
const std::string uuid = "01234567-89ab-cdef-0123-456789abcdef";

std::string decoded_name(const std::string& path, const std::string& root) {
    std::string name;
    std::size_t begin = root.size() + 1;
    while (begin <= path.size()) {
        const auto end = std::min(path.find('/', begin), path.size());
        name += (name.empty() ? "" : "/") + decoded(path.substr(begin, end - begin));
        begin = end + 1;
    }
    return name;
}

TEST(ZooKeeperPath, KeepsWhatANodeCanHave) {
    EXPECT_EQ(path_of("/pawl", "order 7"), "/pawl/order 7");
    EXPECT_EQ(path_of("/pawl", "orders/7"), "/pawl/orders/7");
    EXPECT_EQ(path_of("/", "orders"), "/orders");
    EXPECT_EQ(path_of("/pawl", "日本"), "/pawl/日本");
}

TEST(ZooKeeperPath, EncodesTheRest) {
    EXPECT_EQ(path_of("/p", "%"), "/p/%25");
    EXPECT_EQ(path_of("/p", "\xFF"), "/p/%FF");
    EXPECT_EQ(path_of("/p", "\xC2\x80"), "/p/%C2%80") << "a control character";
    EXPECT_EQ(path_of("/p", "\xED\xA0\x80"), "/p/%ED%A0%80") << "half of a pair";
    EXPECT_EQ(path_of("/p", "\xF0\x9F\x94\x92"), "/p/%F0%9F%94%92") << "beyond U+FFFF";
    EXPECT_EQ(path_of("/p", "/"), "/p/%2F");
    EXPECT_EQ(path_of("/p", "a//b"), "/p/a%2F/b");
    EXPECT_EQ(path_of("/p", "a/"), "/p/a%2F");
    EXPECT_EQ(path_of("/p", "../a"), "/p/%2E./a");
    EXPECT_EQ(path_of("/p", "a/__total__"), "/p/a/%5F_total__");
    EXPECT_EQ(path_of("/", "zookeeper/a"), "/%7Aookeeper/a");
}

// Another lock's node below a lock's node would be taken for a contender.
TEST(ZooKeeperPath, HidesSequenceNumbersInNestedNames) {
    EXPECT_EQ(path_of("/p", "a/lock-0000000001"), "/p/a/lock-000000000%31");
    EXPECT_EQ(path_of("/p", "lock-0000000001"), "/p/lock-0000000001");
}

TEST(ZooKeeperPath, DifferentNamesHaveDifferentPathsThatCanBeRead) {
    std::set<std::string> paths;
    const std::vector<std::string> names{
        "a",      "a/b",         "a//b", "/",    "//",         "a/",  "/a",           "%2F",
        "a%2F/b", ".",           "..",   "...",  "%",          "%%",  "a/0000000001", "\xFF",
        "\xC3",   "a/__total__", "a b",  "a\\b", "0000000001", "%2E", "\xEF\xBF\xBF"};
    for (const auto& each : names) {
        const auto path = path_of("/root", each);
        EXPECT_TRUE(paths.insert(path).second) << path;
        EXPECT_EQ(decoded_name(path, "/root"), each) << path;
    }
}

TEST(ZooKeeperNodes, HaveTheNamesOfCurator) {
    using enum lock_object;
    EXPECT_EQ(node_prefix(owner, read_write_lock, {}), "_c_" + uuid + "-__WRIT__");
    EXPECT_EQ(node_prefix(owner, read_write_lock, {lock_mode::shared, 0}),
              "_c_" + uuid + "-__READ__");
    EXPECT_EQ(node_prefix(owner, read_write_lock, {lock_mode::permits, 3}),
              "_c_" + uuid + "-__P3__-__WRIT__");
    EXPECT_EQ(node_prefix(owner, mutex, {}), "_c_" + uuid + "-lock-");
    EXPECT_EQ(node_prefix(owner, leader_latch, {}), "_c_" + uuid + "-latch-");
    EXPECT_EQ(as_moved("_c_" + uuid + "-__WRIT__0000000007"),
              "_c_" + uuid + "-h-__WRIT__0000000007");
    EXPECT_TRUE(belongs_to("_c_" + uuid + "-h-lock-0000000001", owner));
    EXPECT_TRUE(belongs_to("_c_" + uuid + "-lock-0000000001", owner));
    EXPECT_FALSE(belongs_to("_c_" + uuid + "-lock-0000000001", std::string(32, '0')));
    EXPECT_EQ(as_reader("_c_" + uuid + "-__WRIT__0000000007"),
              "_c_" + uuid + "-__READ__0000000007");
}

TEST(ZooKeeperNodes, AreOrderedByTheirNumbers) {
    const auto line = contenders_of(
        {"_c_b-__READ__0000000010", "_c_a-__WRIT__0000000009",
         "ffffffffffffffffffffffffffffffff__rlock__0000000008", "nested", "__total__",
         "lock-0000000011", "_c_x-__P12__-__WRIT__0000000012", "_c_x-__WRIT__-2147483648"},
        "/p/a");
    ASSERT_EQ(line.size(), 6U);
    EXPECT_EQ(line[0].sequence, -2147483648LL);
    EXPECT_EQ(line[1].share.mode, lock_mode::shared);
    EXPECT_EQ(line[2].share.mode, lock_mode::exclusive);
    EXPECT_EQ(line[3].share.mode, lock_mode::shared);
    EXPECT_EQ(line[4].sequence, 11);
    EXPECT_EQ(line[5].share.mode, lock_mode::permits);
    EXPECT_EQ(line[5].share.permits, 12U);
}

// As the recipe in ZooKeeper's C client makes: its order is not known.
TEST(ZooKeeperNodes, OfAnUnknownKindAreRefused) {
    try {
        (void)contenders_of({"x-72057594037927936-0000000001"}, "/p/a");
        FAIL() << "accepted";
    } catch (const pawl::error& refused) {
        EXPECT_EQ(refused.reason(), pawl::errc::wrong_type);
        EXPECT_NE(std::string(refused.what()).find("x-72057594037927936-0000000001"),
                  std::string::npos);
    }
}

TEST(ZooKeeperNodes, HaveDataThatCanBeRead) {
    const contender_data data{"host", 12, 77, "a command\nwith lines"};
    const auto read = parse_data(text_of(data));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->host, "host");
    EXPECT_EQ(read->pid, 12);
    EXPECT_EQ(read->phase, 77U);
    EXPECT_EQ(read->command, "a command\nwith lines");
    EXPECT_FALSE(parse_data("10.0.0.1")) << "the data of Curator";
    ASSERT_TRUE(parse_data("pawl\n"));
    EXPECT_EQ(parse_data("pawl\n")->phase, 0U);
}

}  // namespace
}  // namespace zookeeper_tests
