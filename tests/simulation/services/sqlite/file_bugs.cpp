// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "file_scenario.hpp"

namespace pawl::simulation {

const char* trigger_of(file_bug bug) {
    switch (bug) {
    case file_bug::token_never_increases:
        return "CREATE TEMP TRIGGER IF NOT EXISTS bug AFTER UPDATE OF last_token ON pawl BEGIN "
               "UPDATE pawl SET last_token = OLD.last_token; END";
    case file_bug::renewal_not_written:
        return "CREATE TEMP TRIGGER IF NOT EXISTS bug AFTER UPDATE OF expires ON holders WHEN "
               "NEW.mode "
               "= OLD.mode "
               "BEGIN UPDATE holders SET expires = OLD.expires WHERE owner = NEW.owner; END";
    case file_bug::release_takes_all:
        return "CREATE TEMP TRIGGER IF NOT EXISTS bug AFTER DELETE ON holders BEGIN "
               "DELETE FROM holders WHERE name = OLD.name; END";
    case file_bug::release_leaves_row:
        return "CREATE TEMP TRIGGER IF NOT EXISTS bug BEFORE DELETE ON holders BEGIN SELECT "
               "RAISE(IGNORE); END";
    case file_bug::lease_cut_short:
        return "CREATE TEMP TRIGGER IF NOT EXISTS bug AFTER INSERT ON holders BEGIN UPDATE holders "
               "SET expires = (expires + set_at) / 2 WHERE owner = NEW.owner; END";
    case file_bug::modes_forgotten:
        return "CREATE TEMP TRIGGER IF NOT EXISTS bug AFTER INSERT ON holders WHEN NEW.mode = 0 "
               "BEGIN "
               "UPDATE holders SET mode = 1 WHERE owner = NEW.owner; END";
    case file_bug::permits_forgotten:
        return "CREATE TEMP TRIGGER IF NOT EXISTS bug AFTER INSERT ON holders WHEN NEW.mode = 2 "
               "BEGIN "
               "UPDATE holders SET permits = 0 WHERE owner = NEW.owner; END";
    case file_bug::waiters_forgotten:
        return "CREATE TEMP TRIGGER IF NOT EXISTS bug AFTER INSERT ON waiters BEGIN "
               "DELETE FROM waiters WHERE owner = NEW.owner; END";
    case file_bug::latch_counts_twice:
        return "CREATE TEMP TRIGGER IF NOT EXISTS bug AFTER INSERT ON latches WHEN NEW.count > 0 "
               "BEGIN "
               "UPDATE latches SET count = count - 1 WHERE name = NEW.name; END";
    default: return nullptr;
    }
}

}  // namespace pawl::simulation
