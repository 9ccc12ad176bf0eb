// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "audit.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace shop {
namespace {

struct logged_effect {
    std::string line, body;
};
using effects_by_resource = std::map<std::string, std::vector<logged_effect>>;

effects_by_resource read_log(const std::string& log) {
    effects_by_resource effects;
    std::ifstream file(log);
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string time, key, resource, token, body;
        words >> time >> key >> resource >> token >> std::ws;
        std::getline(words, body);
        effects[resource].push_back({line, body});
    }
    return effects;
}

std::int64_t number_of(guard::connection& db, const std::string& query) {
    return guard::as_number(db.execute({query}).values.at(0).at(0));
}

class auditor {
public:
    auditor(story told, const layer_set& layers, guard::connection& db, const std::string& log)
        : told_(told), layers_(layers), db_(db), effects_(read_log(log)) {
        for (const auto& [resource, its_effects] : effects_)
            result_.effects += its_effects.size();
    }

    audit run(const std::vector<visit>& visits) {
        if (told_ == story::payment) {
            read_records();
            for (const auto& each : visits)
                check_payment(each.order);
            return std::move(result_);
        }
        read_rows();
        if (told_ == story::orders)
            for (const auto& each : visits)
                check_order(each.order);
        check_stock(
            items_of(told_, static_cast<int>(visits.size())) * (told_ == story::sale ? stripes : 1),
            visits.size());
        return std::move(result_);
    }

private:
    // The records are read by the text of a query, and not by the library.
    void read_records() {
        const std::string key = db_.dialect() == guard::dialect::postgres
                                    ? "convert_from(once_key, 'UTF8')"
                                    : "CAST(once_key AS TEXT)";
        const std::string value = db_.dialect() == guard::dialect::postgres
                                      ? "convert_from(result, 'UTF8')"
                                      : "CAST(result AS TEXT)";
        const auto records =
            db_.execute({"SELECT " + key + ", " + value + " FROM pawl_once WHERE state = 2"});
        for (const auto& row : records.values)
            records_[guard::as_string(row.at(0))] = guard::as_string(row.at(1));
    }

    void check_payment(const std::string& order) {
        const auto& effects = effects_["/verifications/" + order];
        const auto record = records_.find("verify/" + order);
        const bool is_recorded = record != records_.end() || !layers_.has(layer::record);
        if (effects.empty() || !is_recorded)
            add(result_.wrong.unfinished, order, {"no record that it was verified"}, effects);
        if (effects.empty()) return;
        ++result_.orders;
        if (effects.size() > 1) add(result_.wrong.twice_outside, order, {}, effects);
        if (record != records_.end() && record->second != effects.back().body)
            add(result_.wrong.differing, order, {"the record here: " + record->second}, effects);
    }

    void read_rows() {
        const bool is_sale = told_ == story::sale;
        const auto rows =
            db_.execute({is_sale ? "SELECT request, count(*), '' FROM purchases GROUP BY request"
                                 : "SELECT id, count(*), min(state) FROM orders GROUP BY id"});
        for (const auto& row : rows.values) {
            const auto order = guard::as_string(row.at(0));
            const auto count = guard::as_number(row.at(1));
            result_.orders += static_cast<std::uint64_t>(count);
            states_[order] = guard::as_string(row.at(2));
            if (count > 1)
                add(result_.wrong.twice_here, order,
                    {std::to_string(count) + " rows in the database"}, {});
        }
    }

    void check_order(const std::string& order) {
        const auto& effects = effects_["/charges/" + order];
        if (effects.size() > 1) add(result_.wrong.twice_outside, order, {}, effects);
        const auto state = states_.find(order);
        if (state == states_.end()) {
            add(result_.wrong.unfinished, order, {"not in the database"}, effects);
        } else if (state->second != "paid") {
            if (!effects.empty()) ++result_.wrong.unknown_here;
            add(result_.wrong.unfinished, order, {"not paid in the database"}, effects);
        } else if (effects.empty()) {
            add(result_.wrong.differing, order, {"paid here, and not charged"}, {});
        }
    }

    void check_stock(std::int64_t items, std::size_t buyers) {
        const auto left = number_of(db_, "SELECT CAST(sum(items) AS bigint) FROM stock");
        const auto gone = items - left - static_cast<std::int64_t>(result_.orders);
        result_.wrong.wrong_stock = static_cast<std::uint64_t>(gone < 0 ? -gone : gone);
        // A buyer goes away without an item only when there is none.
        if (told_ == story::sale)
            result_.wrong.unfinished =
                std::min(static_cast<std::uint64_t>(left), buyers - states_.size());
    }

    void add(std::uint64_t& count, const std::string& order, std::vector<std::string> lines,
             const std::vector<logged_effect>& effects) {
        ++count;
        auto& example = result_.wrong.example;
        if (example.size() > effects.size() + lines.size()) return;  // a longer story says more
        example = {"order " + order + ":"};
        example.insert(example.end(), lines.begin(), lines.end());
        for (const auto& each : effects)
            example.push_back("outside: " + each.line);
    }

    story told_;
    layer_set layers_;
    guard::connection& db_;
    effects_by_resource effects_;
    std::map<std::string, std::string> records_, states_;
    audit result_;
};

}  // namespace

audit audit_run(story told, const layer_set& layers, const std::vector<visit>& visits,
                guard::connection& db, const std::string& log) {
    return auditor(told, layers, db, log).run(visits);
}

}  // namespace shop
