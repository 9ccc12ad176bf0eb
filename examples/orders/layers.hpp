// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The layers of the examples, and how each one is taken away: from outside of the shop's code.
#pragma once

#include "partner.hpp"

#include <pawl/guard/connection.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace shop {

enum class layer : std::uint8_t {
    lock,           // other callers wait for the lock of the order
    record,         // the record of `once`
    look,           // a finished operation is answered by one read
    token,          // the record is finished by the attempt that has it, and by no other
    unique,         // the unique constraint of the table
    key,            // the outside knows the operation by its key
    fence,          // the outside refuses a smaller token
    reconciliation  // the nightly pass
};
inline constexpr std::array<layer, 8> every_layer{layer::lock,  layer::record,        layer::look,
                                                  layer::token, layer::unique,        layer::key,
                                                  layer::fence, layer::reconciliation};
[[nodiscard]] std::string_view name_of(layer each) noexcept;

// Some of the layers; by default all.
class layer_set {
public:
    [[nodiscard]] bool has(layer each) const noexcept { return (bits_ & bit(each)) != 0; }
    void remove(layer each) noexcept { bits_ &= ~bit(each); }
    // The names of those that are missing, as "key,fence"; empty: none.
    [[nodiscard]] std::string missing() const;

    bool operator==(const layer_set&) const = default;

private:
    static unsigned bit(layer each) noexcept { return 1U << static_cast<unsigned>(each); }
    unsigned bits_ = 255;
};

// All layers but those that are named, as in "key,fence". Empty: all. Throws
// std::invalid_argument, which says what the names are.
[[nodiscard]] layer_set all_without(std::string_view names);

// For once_options::with.
[[nodiscard]] guard::layers once_layers(const layer_set& layers) noexcept;
// The URL of locks that exclude nobody in another process, if the layer is missing.
[[nodiscard]] std::string lock_url(const layer_set& layers, std::string url);

// A database without the layers `look` and `token`: its statements are changed on their way.
class layered_connection final : public guard::connection {
public:
    // The connection must outlive this object.
    layered_connection(guard::connection& target, const layer_set& layers) noexcept
        : target_(target), layers_(layers) {}
    guard::rows execute(const guard::statement& to_run) override;
    [[nodiscard]] guard::dialect dialect() const noexcept override { return target_.dialect(); }
    [[nodiscard]] bool in_transaction() const noexcept override { return target_.in_transaction(); }

private:
    guard::connection& target_;
    layer_set layers_;
    bool is_claim_refused_ = false;
};

// An outside without the layers `key` and `fence`: their headers are dropped.
class layered_partner final : public partner {
public:
    // The partner must outlive this object.
    layered_partner(partner& target, const layer_set& layers) noexcept
        : target_(target), layers_(layers) {}
    answer post(const std::string& path, const std::string& body,
                const header_list& headers) override;

private:
    partner& target_;
    layer_set layers_;
};

}  // namespace shop
