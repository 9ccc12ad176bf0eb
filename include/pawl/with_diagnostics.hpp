// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Completion tokens that say what happened: as an exception, or in an object.
#pragma once

#include <pawl/detail/initiate.hpp>
#include <pawl/diagnostics.hpp>
#include <pawl/error.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/system/error_code.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace pawl {

// See `with_diagnostics`.
template <class Token>
class with_diagnostics_t {
public:
    // Adapts a token with its default value.
    constexpr with_diagnostics_t()
        requires std::is_default_constructible_v<Token>
    = default;
    // Adapts `inner`.
    constexpr explicit with_diagnostics_t(Token inner) : token(std::move(inner)) {}

    Token token{};  // the adapted token
};

// The default token of the operations that can fail: in a coroutine, `co_await` of the operation
// throws a pawl::error with its message.
using default_token = with_diagnostics_t<boost::asio::deferred_t>;

// See `redirect_diagnostics`.
template <class Token>
class redirect_diagnostics_t {
public:
    // Adapts `inner`. `diag` must outlive the operation.
    constexpr redirect_diagnostics_t(Token inner, diagnostics& diag)
        : token(std::move(inner)), target(&diag) {}

    Token token;          // the adapted token
    diagnostics* target;  // is set when the operation ends
};

// Adapts a completion token for Pawl's operations that can fail. The handler's first parameter is a
// std::exception_ptr in place of the error code: null, or a pawl::error with the message of the
// operation's diagnostics. With tokens that throw, such as use_awaitable, deferred in a coroutine,
// and use_future, the exception is that pawl::error:
//
//     auto lock = locks.async_acquire("it", {}, pawl::with_diagnostics(asio::use_future)).get();
//
// A cancelled operation has errc::cancelled, whose condition is std::errc::operation_canceled, as
// that of `operation_aborted`. Works inside and around other adapters, such as cancel_after. The
// associated executor, allocator and cancellation slot are those of the handler.
template <class Token>
[[nodiscard]] constexpr auto with_diagnostics(Token&& token) {
    return with_diagnostics_t<std::decay_t<Token>>(std::forward<Token>(token));
}

// Adapts a completion token for Pawl's operations that can fail. The operation sets `diag` to the
// message of its failure, which an error code has no room for, directly before it calls the
// handler:
//
//     pawl::diagnostics diag;
//     auto [failed, lock] = co_await locks.async_acquire(
//         "it", {}, pawl::redirect_diagnostics(asio::as_tuple(asio::deferred), diag));
//
// Works inside and around other adapters. The associated executor, allocator and cancellation slot
// are those of the handler.
template <class Token>
[[nodiscard]] constexpr auto redirect_diagnostics(Token&& token, diagnostics& diag) {
    return redirect_diagnostics_t<std::decay_t<Token>>(std::forward<Token>(token), diag);
}

namespace detail {

// The exception for a code and its message.
[[nodiscard]] std::exception_ptr to_exception(const boost::system::error_code& code,
                                              const diagnostics& messages) noexcept;

template <class Handler>
struct exception_handler {
    Handler handler;
    const diagnostics* messages;
    std::shared_ptr<diagnostics> owned;  // null if the caller gave diagnostics

    template <class... Results>
    void operator()(const boost::system::error_code& code, Results... results) {
        std::exception_ptr failure;
        if (code) failure = to_exception(code, *messages);
        owned.reset();
        std::move(handler)(std::move(failure), std::move(results)...);
    }
};

// The diagnostics among the arguments of an initiation.
template <class... Arguments>
[[nodiscard]] diagnostics*& find_diagnostics(Arguments&... arguments) noexcept {
    constexpr auto count = (0 + ... + int{std::is_same_v<Arguments, diagnostics*>});
    static_assert(count == 1,
                  "pawl::with_diagnostics and pawl::redirect_diagnostics work with Pawl's async "
                  "operations that can fail.");
    diagnostics** place = nullptr;
    const auto look_at = [&place](auto& argument) {
        if constexpr (std::is_same_v<decltype(argument), diagnostics*&>) place = &argument;
    };
    (look_at(arguments), ...);
    return *place;
}

template <class Initiation>
struct exception_initiation : Initiation {
    template <class Handler, class... Arguments>
    void operator()(Handler&& handler, Arguments... arguments) const {
        diagnostics*& target = find_diagnostics(arguments...);
        std::shared_ptr<diagnostics> owned;
        if (target == nullptr) {
            owned =
                std::allocate_shared<diagnostics>(boost::asio::get_associated_allocator(handler));
            target = owned.get();
        }
        using outer = exception_handler<std::decay_t<Handler>>;
        static_cast<const Initiation&>(*this)(
            outer{std::forward<Handler>(handler), target, std::move(owned)},
            std::move(arguments)...);
    }
};

template <class Signature>
struct exception_signature {
    static_assert(!std::is_same_v<Signature, Signature>,
                  "pawl::with_diagnostics works with Pawl's async operations that can fail.");
};
template <class... Results>
struct exception_signature<void(boost::system::error_code, Results...)> {
    using type = void(std::exception_ptr, Results...);
};

}  // namespace detail
}  // namespace pawl

template <class Token, class... Signatures>
struct boost::asio::async_result<pawl::with_diagnostics_t<Token>, Signatures...>
    : boost::asio::async_result<Token,
                                typename pawl::detail::exception_signature<Signatures>::type...> {
    template <class Initiation, class Adapter, class... Arguments>
    static auto initiate(Initiation&& initiation, Adapter&& adapter, Arguments&&... arguments) {
        using inner = std::remove_reference_t<decltype((adapter.token))>;
        return boost::asio::async_initiate<
            inner, typename pawl::detail::exception_signature<Signatures>::type...>(
            pawl::detail::exception_initiation<std::decay_t<Initiation>>{
                std::forward<Initiation>(initiation)},
            adapter.token, std::forward<Arguments>(arguments)...);
    }
};

template <class Token, class... Signatures>
struct boost::asio::async_result<pawl::redirect_diagnostics_t<Token>, Signatures...>
    : boost::asio::async_result<Token, Signatures...> {
    template <class Initiation, class Adapter, class... Arguments>
    static auto initiate(Initiation&& initiation, Adapter&& adapter, Arguments... arguments) {
        pawl::detail::find_diagnostics(arguments...) = adapter.target;
        using inner = std::remove_reference_t<decltype((adapter.token))>;
        return boost::asio::async_initiate<inner, Signatures...>(
            std::forward<Initiation>(initiation), adapter.token, std::move(arguments)...);
    }
};

template <template <class, class> class Associator, class Handler, class Default>
struct boost::asio::associator<Associator, pawl::detail::exception_handler<Handler>, Default>
    : Associator<Handler, Default> {
    static auto get(const pawl::detail::exception_handler<Handler>& outer) noexcept {
        return Associator<Handler, Default>::get(outer.handler);
    }
    static auto get(const pawl::detail::exception_handler<Handler>& outer,
                    const Default& otherwise) noexcept
        -> decltype(Associator<Handler, Default>::get(outer.handler, otherwise)) {
        return Associator<Handler, Default>::get(outer.handler, otherwise);
    }
};
