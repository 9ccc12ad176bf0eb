// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "audit.hpp"

#include <support/postgres_server.hpp>
#include <support/temp_folder.hpp>

#include <conformance/process.hpp>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace real::orders {

std::vector<audit_rule> audit(story which, const audit_sources& sources) {
    const support::temp_folder folder;
    const auto output = folder.file("audit");
    pawl::conformance::child auditor(
        {.arguments = {"python3", PAWL_ORDERS_AUDITOR, "--story", to_string(which), "--psql",
                       support::postgres_programs() + "/psql", "--database", sources.database,
                       "--outside", sources.outside_log, "--answers", sources.answers, "--orders",
                       std::to_string(sources.orders), "--items", std::to_string(sources.items)},
         .environment = {},
         .output_file = output,
         .folder = {}});
    const auto status = auditor.wait(std::chrono::minutes(10));
    std::ifstream file(output);
    if (status != 0) {
        std::ostringstream text;
        text << file.rdbuf();
        throw std::runtime_error("the auditor fails: " + text.str());
    }
    std::vector<audit_rule> rules;
    for (std::string line; std::getline(file, line);) {
        audit_rule rule;
        std::istringstream fields(line);
        std::string count;
        std::getline(fields, rule.name, '\t');
        std::getline(fields, count, '\t');
        std::getline(fields, rule.examples, '\t');
        rule.count = std::stoul(count);
        rules.push_back(std::move(rule));
    }
    return rules;
}

}  // namespace real::orders
