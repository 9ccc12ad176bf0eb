// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "advisory_session.hpp"
#include "connection_string.hpp"
#include "connector.hpp"
#include "shedlock.hpp"

#include "../sql/backend.hpp"
#include "../sql/session_locks.hpp"

#include <pawl/postgres.hpp>

#include <utility>

namespace pawl::postgres {
namespace {

class definition final : public service::definition {
public:
    explicit definition(options settings) : options_(std::move(settings)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        if (options_.kind == lock_kind::session)
            return sql::make_session_backend(
                std::make_unique<advisory_connector>(options_, context), context);
        auto database = std::make_unique<connector>(options_, context);
        if (const auto& table = options_.shedlock)
            return sql::make_shedlock_backend(std::move(database), shedlock_statements(*table),
                                              *table, context);
        return sql::make_backend(std::move(database), options_.name_space, context);
    }
    std::string describe() const override { return postgres::describe(options_); }
    std::string setup_text(std::string_view role) const override {
        return schema_of(options_, role);
    }

private:
    options options_;
};

}  // namespace

service at(options settings) {
    check_options(settings);
    return service(std::make_shared<definition>(std::move(settings)));
}

options parse(std::string_view url) { return parse_options(url); }

service at(std::string_view url) { return at(parse(url)); }

}  // namespace pawl::postgres
