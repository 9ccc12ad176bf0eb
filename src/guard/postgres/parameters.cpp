// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "parameters.hpp"

#include <limits>

namespace pawl::guard {
namespace {

constexpr int as_text = 0, as_binary = 1;

}  // namespace

postgres_parameters::postgres_parameters(const statement& to_run) {
    numbers_.reserve(to_run.parameters.size());  // their addresses must stay
    for (const auto& each : to_run.parameters)
        if (const auto* number = std::get_if<std::int64_t>(&each)) {
            add(numbers_.emplace_back(std::to_string(*number)).c_str(), 0, as_text);
        } else if (const auto* text = std::get_if<std::string>(&each)) {
            if (text->size() > std::numeric_limits<std::int32_t>::max() / 2)
                throw database_error("A parameter is longer than 1 GiB; store it elsewhere.");
            add(text->data(), static_cast<int>(text->size()), as_binary);
        } else {
            add(nullptr, 0, as_text);
        }
}

void postgres_parameters::add(const char* bytes, int length, int format) {
    values_.push_back(bytes);
    lengths_.push_back(length);
    formats_.push_back(format);
}

}  // namespace pawl::guard
