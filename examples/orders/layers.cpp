// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "layers.hpp"

#include <algorithm>
#include <stdexcept>

namespace shop {
namespace {

std::string all_names() {
    std::string names;
    for (const auto each : every_layer)
        names += (names.empty() ? "" : ", ") + std::string(name_of(each));
    return names;
}

layer layer_of(std::string_view name) {
    for (const auto each : every_layer)
        if (name_of(each) == name) return each;
    throw std::invalid_argument("There is no layer \"" + std::string(name) + "\"; the layers are " +
                                all_names() + ".");
}

// "state = 3" would be the end of an operation that had too many attempts.
bool is_finish(std::string_view text) {
    const std::string_view begin = "UPDATE pawl_once SET state = ";
    return text.starts_with(begin) && text.substr(begin.size(), 1) != "3";
}

// A parameter must stay in the text, because PostgreSQL would not know its type.
guard::statement without_condition(guard::statement finish) {
    for (const char mark : {'$', '?'}) {
        const std::string state = std::string("state = ") + mark + '6';
        const std::string token = std::string("token = ") + mark + '7';
        const auto at = finish.text.find(state + " AND " + token);
        if (at == std::string::npos) continue;
        finish.text.replace(at, state.size() + 5 + token.size(),
                            "(" + state + " OR " + token + " OR 1 = 1)");
        return finish;
    }
    throw std::logic_error("The layer `token` cannot be taken away from: " + finish.text);
}

}  // namespace

std::string_view name_of(layer each) noexcept {
    switch (each) {
    case layer::lock: return "lock";
    case layer::record: return "record";
    case layer::look: return "look";
    case layer::token: return "token";
    case layer::unique: return "unique";
    case layer::key: return "key";
    case layer::fence: return "fence";
    case layer::reconciliation: return "reconciliation";
    }
    return "unknown";
}

std::string layer_set::missing() const {
    std::string names;
    for (const auto each : every_layer)
        if (!has(each)) names += (names.empty() ? "" : ",") + std::string(name_of(each));
    return names;
}

layer_set all_without(std::string_view names) {
    layer_set layers;
    while (!names.empty()) {
        const auto end = std::min(names.find(','), names.size());
        layers.remove(layer_of(names.substr(0, end)));
        names.remove_prefix(std::min(end + 1, names.size()));
    }
    return layers;
}

guard::layers once_layers(const layer_set& layers) noexcept {
    const auto bits =
        (layers.has(layer::lock) ? static_cast<unsigned>(guard::layers::lock) : 0) |
        (layers.has(layer::record) ? static_cast<unsigned>(guard::layers::record) : 0);
    return static_cast<guard::layers>(bits);
}

std::string lock_url(const layer_set& layers, std::string url) {
    return layers.has(layer::lock) ? std::move(url) : "memory:";
}

// Without the look, a caller learns only from a refused claim that the operation is known.
guard::rows layered_connection::execute(const guard::statement& to_run) {
    const std::string_view text = to_run.text;
    if (!layers_.has(layer::token) && is_finish(text))
        return target_.execute(without_condition(to_run));
    const bool is_look = text.starts_with("SELECT state, token") &&
                         text.find("FROM pawl_once") != std::string_view::npos;
    if (!layers_.has(layer::look) && is_look && !is_claim_refused_) return {};
    auto answer = target_.execute(to_run);
    if (text.starts_with("INSERT INTO pawl_once")) is_claim_refused_ = answer.values.empty();
    return answer;
}

answer layered_partner::post(const std::string& path, const std::string& body,
                             const header_list& headers) {
    header_list kept;
    for (const auto& each : headers) {
        const bool is_fence = each.first == guard::fencing_token_field;
        if (layers_.has(is_fence ? layer::fence : layer::key)) kept.push_back(each);
    }
    return target_.post(path, body, kept);
}

}  // namespace shop
