// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A database with Pawl's tables and a table of effects, and callers with either API.
#pragma once

#include "once_caller.hpp"
#include "refusals.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/schema.hpp>

namespace guard_tests {

using guard::once_state;
using namespace std::chrono_literals;

using once_parameters = std::tuple<product, api>;

class once_test : public testing::TestWithParam<once_parameters> {
protected:
    once_test() {
        guard::make_tables(admin->view());
        admin->run("CREATE TABLE effects(id BIGINT)");
    }

    // Writes an effect, and returns the text.
    [[nodiscard]] static guard::once_work writes(once_caller& caller, std::string text,
                                                 int* calls = nullptr) {
        return [&caller, text, calls](const guard::attempt&) -> guard::outcome {
            if (calls != nullptr) ++*calls;
            caller.view().execute({"INSERT INTO effects(id) VALUES(1)"});
            return text;
        };
    }
    [[nodiscard]] std::int64_t effects() { return admin->number("SELECT count(*) FROM effects"); }
    // As if the lease of every pending record were over.
    void end_leases() { admin->run("UPDATE pawl_once SET lease_until = 0 WHERE state = 1"); }
    [[nodiscard]] std::unique_ptr<once_caller> new_caller() {
        return make_caller(*database, std::get<api>(GetParam()));
    }

    const std::unique_ptr<test_database> database = std::get<product>(GetParam()).make({});
    const std::unique_ptr<open_connection> admin = database->connect();
    const std::unique_ptr<once_caller> first = new_caller();
    const std::unique_ptr<once_caller> other = new_caller();
};

inline std::string name_of_once(const testing::TestParamInfo<once_parameters>& tested) {
    return std::get<product>(tested.param).name +
           (std::get<api>(tested.param) == api::sync ? "" : "Coroutines");
}

}  // namespace guard_tests

#define EVERY_DATABASE_AND_API(suite)                                                       \
    INSTANTIATE_TEST_SUITE_P(                                                               \
        On, suite,                                                                          \
        testing::Combine(testing::ValuesIn(guard_tests::products()),                        \
                         testing::Values(guard_tests::api::sync, guard_tests::api::async)), \
        guard_tests::name_of_once)
