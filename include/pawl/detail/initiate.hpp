// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An implementation detail: how an async operation begins and completes.
#pragma once

#include <pawl/detail/asio_settings.hpp>
#include <pawl/diagnostics.hpp>
#include <pawl/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/system/error_code.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace pawl {

namespace core {
class engine;
class lease;
}  // namespace core

namespace detail {

using engine_ptr = std::shared_ptr<core::engine>;
using lease_ptr = std::shared_ptr<core::lease>;

// The end of an operation: its error code, and the message if it failed.
struct outcome {
    boost::system::error_code code{};
    std::string message{};
};

// The handler that the library calls when an operation ends. It contains the caller's handler.
template <class... Results>
using operation_handler = boost::asio::any_completion_handler<void(outcome, Results...)>;

// Sets the caller's diagnostics, if there are any, and calls the caller's handler.
template <class Handler>
struct outcome_handler {
    Handler handler;
    diagnostics* target;

    template <class... Results>
    void operator()(outcome ended, Results... results) {
        if (target != nullptr) *target = diagnostics(std::move(ended.message));
        std::move(handler)(ended.code, std::move(results)...);
    }
};

// The executor of the client, where handlers run by default.
[[nodiscard]] boost::asio::any_io_executor executor_of(const engine_ptr& engine) noexcept;
[[nodiscard]] boost::asio::any_io_executor executor_of(const lease_ptr& lease) noexcept;

// asio::cancel_after and similar tokens take the executor of the initiation.
template <class Source, class Start>
struct plain_initiation {
    using executor_type = boost::asio::any_io_executor;
    Source source;
    Start start;

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_of(source); }
    template <class Handler, class... Arguments>
    void operator()(Handler&& handler, Arguments&&... arguments) const {
        start(std::forward<Handler>(handler), source, std::forward<Arguments>(arguments)...);
    }
};

// The initiation of an operation that can fail. `with_diagnostics` and `redirect_diagnostics` find
// the diagnostics among the arguments.
template <class Source, class Start>
struct initiation : plain_initiation<Source, Start> {
    template <class Handler, class... Arguments>
    void operator()(Handler&& handler, diagnostics* target, Arguments&&... arguments) const {
        using outer = outcome_handler<std::decay_t<Handler>>;
        this->start(outer{std::forward<Handler>(handler), target}, this->source,
                    std::forward<Arguments>(arguments)...);
    }
};

// Begins an operation that cannot fail.
template <class Token, class Source, class... Results, class... Arguments>
auto initiate_plain(const Source& source,
                    void (*start)(boost::asio::any_completion_handler<void(Results...)>, Source,
                                  Arguments...),
                    std::remove_reference_t<Token>& token,
                    std::type_identity_t<Arguments>... arguments) {
    return boost::asio::async_initiate<Token, void(Results...)>(
        plain_initiation<Source, decltype(start)>{source, start}, token, std::move(arguments)...);
}

// Begins an operation that can fail. An adapter of the token may set its diagnostics.
template <class Token, class Source, class... Results, class... Arguments>
auto initiate(const Source& source,
              void (*start)(boost::asio::any_completion_handler<void(outcome, Results...)>, Source,
                            Arguments...),
              std::remove_reference_t<Token>& token, std::type_identity_t<Arguments>... arguments) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, Results...)>(
        initiation<Source, decltype(start)>{{source, start}}, token,
        static_cast<diagnostics*>(nullptr), std::move(arguments)...);
}

// The common part of the objects of the async API.
class io_object {
public:
    // For Asio: the type of `get_executor`.
    using executor_type = boost::asio::any_io_executor;

    // The executor of the client. Handlers without an associated executor run on it. Thread-safe.
    [[nodiscard]] executor_type get_executor() const noexcept { return executor_of(engine_); }

protected:
    explicit io_object(engine_ptr engine) noexcept : engine_(std::move(engine)) {}

    engine_ptr engine_;
};

}  // namespace detail
}  // namespace pawl

// The executor, the allocator and the cancellation slot are those of the caller's handler.
template <template <class, class> class Associator, class Handler, class Default>
struct boost::asio::associator<Associator, pawl::detail::outcome_handler<Handler>, Default>
    : Associator<Handler, Default> {
    static auto get(const pawl::detail::outcome_handler<Handler>& outer) noexcept {
        return Associator<Handler, Default>::get(outer.handler);
    }
    static auto get(const pawl::detail::outcome_handler<Handler>& outer,
                    const Default& otherwise) noexcept
        -> decltype(Associator<Handler, Default>::get(outer.handler, otherwise)) {
        return Associator<Handler, Default>::get(outer.handler, otherwise);
    }
};
