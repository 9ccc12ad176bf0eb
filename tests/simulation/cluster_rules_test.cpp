// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Compares the nodes of the simulated cluster with those of a real one: random commands, of clients
// and of scripts, on keys of slots that move, with and without ASKING, and failovers.
#include "kernel/prng.hpp"
#include "server/cluster_view.hpp"
#include "server/simulated_redis.hpp"

#include <support/cluster_group.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

namespace pawl::simulation {
namespace {

constexpr std::size_t masters = 2, node_count = 4;
constexpr int command_count = 6000;
const words tags{"a", "b", "it"};

std::string whole_text(const redis::reply& reply) {
    using kind = redis::reply::kind;
    std::string text;
    switch (reply.type) {
    case kind::nil: return "nil";
    case kind::integer: return std::to_string(reply.number);
    case kind::string:
    case kind::error: return reply.text;
    case kind::array: break;
    }
    for (const auto& item : reply.items)
        text += " [" + whole_text(item) + "]";
    return text;
}

std::string whole_text(const support::resp_value& reply) {
    if (reply.is_null) return "nil";
    if (reply.kind != '*') return reply.text;
    std::string text;
    for (const auto& item : reply.items)
        text += " [" + whole_text(item) + "]";
    return text;
}

// Executes each command of a script's arguments; each has a verb and a key.
constexpr const char* commands_script =
    "local replies = {} for i = 1, #ARGV, 2 do replies[#replies + 1] = "
    "redis.call(ARGV[i], ARGV[i + 1]) end return replies";
constexpr const char* publish_script = "return redis.call('SPUBLISH', ARGV[1], 'x')";

class cluster_comparison {
public:
    explicit cluster_comparison(std::uint64_t seed) : random_(seed) {
        for (std::size_t i = 0; i < node_count; ++i) {
            views_.push_back(std::make_unique<cluster_view>(i, node_count));
            for (std::size_t other = 0; other < node_count; ++other) {
                views_[i]->set_epoch(other, other + 1);
                if (other >= masters) views_[i]->replicate(other, other % masters);
            }
            for (std::size_t master = 0; master < masters; ++master)
                views_[i]->assign(master * slot_count / masters,
                                  (master + 1) * slot_count / masters - 1, master);
            nodes_.push_back(
                std::make_unique<simulated_redis>([](auto, auto) {}, injected_bug::none));
            nodes_[i]->join_cluster(*views_[i], [](auto, auto) {});
            nodes_[i]->set_clock(1'900'000'000'000'000);
        }
    }

    // An error in the simulation, to show that the comparison finds it.
    std::function<void(words& command, std::string& reply)> injected_error = [](words&,
                                                                                std::string&) {};

    void play() {
        for (int i = 0; i < command_count; ++i) {
            if (random_.happens(0.03)) operate();
            if (random_.happens(0.002)) replace_a_master();
            const auto node = random_.below(random_.happens(0.9) ? masters : node_count);
            const bool asks = random_.happens(0.4);
            if (asks) compare(node, {"ASKING"});
            compare(node, next_command());
        }
    }
    [[nodiscard]] const std::map<std::string, int>& outcomes() const noexcept { return outcomes_; }
    [[nodiscard]] int moves() const noexcept { return moves_; }
    [[nodiscard]] int failovers() const noexcept { return failovers_; }

private:
    const std::string& tag() { return tags[random_.below(tags.size())]; }
    std::string key(const std::string& of_tag) {
        return "{" + of_tag + "}" + std::to_string(random_.below(3));
    }
    // Nearly always of the tag's slot.
    std::string key_near(const std::string& of_tag) {
        return key(random_.happens(0.05) ? tag() : of_tag);
    }

    words next_command() {
        const auto of_tag = tag();
        switch (random_.below(8)) {
        case 0: return {"GET", key(of_tag)};
        case 1:
        case 2: return {"SET", key(of_tag), std::to_string(random_.below(9))};
        case 3: return {"DEL", key(of_tag), key_near(of_tag)};
        case 4: return {"EXISTS", key(of_tag), key_near(of_tag), key(of_tag)};
        case 5: {
            if (random_.happens(0.5)) return {"SPUBLISH", key(of_tag), "x"};
            const auto unknown = std::string(40, '0');
            return {"EVALSHA", unknown, "2", key(of_tag), key_near(of_tag)};
        }
        case 6:
            if (random_.happens(0.3))
                return {"EVAL", publish_script, "1", key(of_tag), key_near(of_tag)};
            [[fallthrough]];
        default: return script(of_tag);
        }
    }
    words script(const std::string& of_tag) {
        const auto key_count = random_.below(4);
        words result{"EVAL", commands_script, std::to_string(key_count)};
        for (std::size_t i = 0; i < key_count; ++i)
            result.push_back(key_near(of_tag));
        // A script without keys is not redirected. A replica refuses its writes in another way.
        constexpr const char* verbs[] = {"GET", "EXISTS", "INCR", "DEL"};
        for (auto calls = random_.below(4); calls > 0; --calls) {
            result.emplace_back(verbs[random_.below(key_count == 0 ? 2 : 4)]);
            result.push_back(key_near(of_tag));
        }
        return result;
    }

    void compare(std::size_t node, const words& command) {
        auto changed = command;
        std::string simulated;
        injected_error(changed, simulated);
        simulated = whole_text(nodes_[node]->execute(1, changed));
        injected_error(changed, simulated);
        const auto real = with_nodes(whole_text(group_.node(node).execute(command)));
        ++outcomes_[real.substr(0, real.find_first_of("0123456789"))];
        std::string text;
        for (const auto& word : command)
            text += " '" + word + "'";
        expect_equal("node " + std::to_string(node) + text, with_nodes(simulated), real);
    }
    static void expect_equal(const std::string& subject, const std::string& simulated,
                             const std::string& real) {
        if (simulated != real)
            throw std::runtime_error(subject + "\n simulated: " + simulated + "\n real: " + real);
    }
    // An address is the number of its node.
    std::string with_nodes(std::string text) {
        const auto address = text.find("127.0.0.1:");
        if (address == text.npos) return text;
        const auto port = std::stoul(text.substr(address + 10));
        for (std::size_t i = 0; i < node_count; ++i)
            if (port == group_.node(i).port() || port == cluster_view::first_port + i)
                return text.substr(0, address) + "node " + std::to_string(i);
        return text;
    }

    // A step of a slot's move.
    void operate() {
        const auto of_tag = tag();
        const auto slot = slot_of(of_tag);
        if (!open_.contains(slot)) return begin_move(slot);
        auto& [from, to] = open_[slot];
        const auto held = keys_of(from, slot);
        if (random_.happens(0.1)) return cancel_move(slot);
        if (held.empty()) return finish_move(slot);
        migrate(from, to, held[random_.below(held.size())]);
    }
    void begin_move(std::size_t slot) {
        const auto from = views_[0]->owner_of(slot);
        std::size_t to = from;
        while (to == from || !views_[to]->is_master())
            to = random_.below(node_count);
        const auto number = std::to_string(slot);
        open_[slot] = {from, to};
        (void)group_.node(to).execute({"CLUSTER", "SETSLOT", number, "IMPORTING", group_.id(from)});
        views_[to]->import_from(slot, from);
        (void)group_.node(from).execute({"CLUSTER", "SETSLOT", number, "MIGRATING", group_.id(to)});
        views_[from]->migrate_to(slot, to);
    }
    void cancel_move(std::size_t slot) {
        for (const auto node : {open_[slot].first, open_[slot].second}) {
            (void)group_.node(node).execute({"CLUSTER", "SETSLOT", std::to_string(slot), "STABLE"});
            views_[node]->end_move(slot);
        }
        // As an operator would: the keys that had moved come back. Only the owner serves them.
        open_.erase(slot);
    }
    void migrate(std::size_t from, std::size_t to, const std::string& key) {
        const auto reply = group_.node(from).execute({"MIGRATE", "127.0.0.1",
                                                      std::to_string(group_.node(to).port()), key,
                                                      "0", "5000", "REPLACE"});
        expect_equal("MIGRATE", "OK", reply.text);
        nodes_[to]->restore(key, *nodes_[from]->data().peek(key));
        nodes_[from]->evict(0, key);
    }
    void finish_move(std::size_t slot) {
        const auto [from, to] = open_[slot];
        open_.erase(slot);
        ++moves_;
        for (const auto node : {to, from}) {
            (void)group_.node(node).execute(
                {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", group_.id(to)});
            views_[node]->set_owner(slot, to, false);
        }
        agree();
    }
    void replace_a_master() {
        while (!open_.empty()) {
            const auto [slot, ends] = *open_.begin();
            for (const auto& each : keys_of(ends.first, slot))
                migrate(ends.first, ends.second, each);
            finish_move(slot);
        }
        ++failovers_;
        const auto master = views_[0]->owner_of(slot_of(tag()));
        std::size_t replica = 0;
        while (views_[replica]->master() != master)
            ++replica;
        if (!group_.is_replicated(master)) throw std::runtime_error("no replication");
        group_.take_over(replica);
        if (!group_.is_promoted(replica)) throw std::runtime_error("no promotion");
        views_[replica]->take_over();
        nodes_[replica]->data().replace(nodes_[master]->data().copy_keys());
        nodes_[master]->flush_all();
        agree();
        if (!group_.is_replicated(replica)) throw std::runtime_error("no replication");
    }
    // The nodes exchange their views, twice: what a message has changed is told, too.
    void agree() {
        for (int round = 0; round < 2; ++round)
            for (const auto& from : views_)
                for (const auto& to : views_)
                    if (from != to) (void)to->receive(from->own_state());
        if (!group_.is_agreed()) throw std::runtime_error("the real cluster does not agree");
        for (std::size_t i = 0; i < node_count; ++i) {
            expect_equal("the epoch of node " + std::to_string(i),
                         std::to_string(views_[i]->epoch_of(i)), std::to_string(group_.epoch(i)));
            for (const auto& each : tags)
                expect_equal("the owner of " + each,
                             std::to_string(views_[i]->owner_of(slot_of(each))),
                             std::to_string(group_.owner_of(slot_of(each), i)));
            if (!views_[i]->is_master()) continue;
            words simulated;
            for (const auto& [key, entry] : nodes_[i]->data().all())
                simulated.push_back(key);
            EXPECT_EQ(simulated, group_.node(i).keys());
        }
    }
    words keys_of(std::size_t node, std::size_t slot) {
        words result;
        for (const auto& [key, entry] : nodes_[node]->data().all())
            if (slot_of(key) == slot) result.push_back(key);
        return result;
    }

    prng random_;
    support::cluster_group group_{{.masters = masters, .replicas = 1}};
    std::vector<std::unique_ptr<cluster_view>> views_;
    std::vector<std::unique_ptr<simulated_redis>> nodes_;
    std::map<std::size_t, std::pair<std::size_t, std::size_t>> open_;
    std::map<std::string, int> outcomes_;
    int moves_ = 0;
    int failovers_ = 0;
};

TEST(ClusterRules, AreThoseOfARealCluster) {
    cluster_comparison comparison(20261123);
    comparison.play();
    for (const char* const outcome :
         {"MOVED ", "ASK ", "TRYAGAIN Multiple keys request during rehashing of slot",
          "CROSSSLOT Keys in request don't hash to the same slot",
          "NOSCRIPT No matching script. "
          "Please use EVAL.",
          "OK", "nil",
          "ERR Script attempted to access a non local key in a cluster node script: "}) {
        const auto it = std::ranges::find_if(comparison.outcomes(), [&](const auto& each) {
            return each.first.starts_with(outcome) && each.second >= 10;
        });
        EXPECT_NE(it, comparison.outcomes().end()) << outcome;
    }
    EXPECT_GE(comparison.moves(), 10);
    EXPECT_GE(comparison.failovers(), 2);
}

struct injected_rule {
    const char* name;
    void (*change)(words& command, std::string& reply);
};

constexpr injected_rule injected_rules[] = {
    {"asking_is_ignored",
     [](words& command, std::string& reply) {
         if (reply.empty() && command[0] == "ASKING") command[0] = "PING";
         if (reply == "PONG") reply = "OK";
     }},
    {"the_keys_that_are_missing_are_not_counted",
     [](words&, std::string& reply) {
         if (reply.starts_with("TRYAGAIN")) reply = "0";
     }},
    {"a_script_has_redirections",
     [](words&, std::string& reply) {
         const auto error = reply.find("access a non local key");
         if (error != reply.npos) reply = "MOVED";
     }},
};

class ClusterInjectedErrors : public testing::TestWithParam<injected_rule> {};

// If an error in a rule is not found, the comparison proves nothing.
TEST_P(ClusterInjectedErrors, AreFound) {
    cluster_comparison comparison(20261123);
    comparison.injected_error = GetParam().change;
    EXPECT_THROW(comparison.play(), std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(Each, ClusterInjectedErrors, testing::ValuesIn(injected_rules),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace pawl::simulation
