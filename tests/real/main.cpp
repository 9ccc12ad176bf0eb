// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Real processes on real servers that fail, and one check of what all of them recorded:
//
//   pawl_real storm [OPTION OF GOOGLETEST…]   one lock, and processes that are killed and stopped
//   pawl_real proof [OPTION…]                 minutes, with fencing and without: --help
//   pawl_real proof --on orders [OPTION…]     orders, with all layers and without each: --help
//   pawl_real soak [OPTION…]                  hours, on every server and store: --help
//   pawl_real --gtest_…                       the storms, and the tests of the program itself
//
// Exit status: 0 all promises hold, 1 they do not, 2 a wrong command line, 77 the proof cannot
// inject one of the chosen faults here.
#include "arguments.hpp"

#include <real/clients/client_process.hpp>
#if PAWL_WITH_POSTGRES
#include <real/orders/verb.hpp>
#endif
#include <real/proofs/run.hpp>
#include <real/servers/network.hpp>
#include <real/servers/pace.hpp>
#include <real/servers/redlock_nodes.hpp>
#include <real/soak/stretch.hpp>
#include <real/storm/process.hpp>

#include <gtest/gtest.h>

#include <iostream>

namespace real {

namespace {

using words = std::vector<std::string>;

int run_helper(const words& arguments) {
    if (arguments == words{"namespace"}) return keep_namespace();
    if (arguments.size() == 3 && arguments[0] == "begin-set")
        return begin_set(arguments[1], arguments[2]);
    if (const auto client = read_client_words(arguments)) return run_client(*client);
#if PAWL_WITH_POSTGRES
    if (const auto status = orders::run_helper(arguments)) return *status;
#endif
    return storm::run_helper(arguments);
}

int run_tests(words arguments) {
    std::vector<char*> pointers;
    for (auto& each : arguments)
        pointers.push_back(each.data());
    int count = static_cast<int>(pointers.size());
    pointers.push_back(nullptr);
    testing::InitGoogleTest(&count, pointers.data());
    return RUN_ALL_TESTS();
}

int run_storms(const words& arguments) {
    words all{"storm", "--gtest_filter=*Storm*"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_tests(std::move(all));
}

int explain(const std::string& usage) {
    std::cout << usage;
    return 0;
}

int run_proof(const words& arguments) {
    const bool needs_help = contains(arguments, "--help");
#if PAWL_WITH_POSTGRES
    if (orders::is_for_orders(arguments))
        return needs_help ? explain(orders::usage()) : orders::run_verb(arguments);
    if (needs_help) return explain(proofs::usage() + "\n" + orders::usage());
#endif
    return needs_help ? explain(proofs::usage()) : proofs::run_verb(arguments);
}

int run_verb(const std::string& verb, const words& arguments) {
    try {
        if (verb == "storm") return run_storms(arguments);
        if (verb == "proof") return run_proof(arguments);
        if (verb == "soak")
            return contains(arguments, "--help") ? explain(soak::usage())
                                                 : soak::run_verb(arguments);
        throw bad_usage("There is no verb '" + verb + "'; use storm, proof or soak.");
    } catch (const bad_usage& problem) {
        std::cerr << problem.what() << "\n";
        return 2;
    } catch (const interrupted&) {
        return 1;
    } catch (const std::exception& problem) {
        std::cerr << "The " << verb << " failed: " << problem.what() << "\n";
        return 1;
    }
}

}  // namespace

}  // namespace real

int main(int argc, char** argv) {
    const std::vector<std::string> all(argv, argv + argc);
    const std::string first = argc > 1 ? all[1] : "";
    if (first.starts_with("--gtest_")) return real::run_tests(all);
    const std::vector<std::string> rest(all.begin() + (argc > 1 ? 2 : 1), all.end());
    return first == "--pawl-helper" ? real::run_helper(rest) : real::run_verb(first, rest);
}
