// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A completion token whose exceptions say what happened.
#pragma once

#include <pawl/detail/initiate.hpp>
#include <pawl/diagnostics.hpp>
#include <pawl/error.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
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
    // Adapts `inner`.
    constexpr explicit with_diagnostics_t(Token inner) : token(std::move(inner)) {}

    Token token;  // the adapted token
};

// Adapts a completion token for Pawl's operations that can fail. The handler's first parameter is a
// std::exception_ptr in place of the error code: null, or a pawl::error with the message of the
// operation's diagnostics. With tokens that throw, such as use_awaitable, deferred in a coroutine,
// and use_future, the exception is that pawl::error:
//
//     auto lock = co_await locks.async_acquire("it", {}, pawl::with_diagnostics(asio::deferred));
//
// A cancelled operation has errc::cancelled, whose condition is std::errc::operation_canceled, as
// that of `operation_aborted`. Works inside and around other adapters, such as cancel_after. The
// associated executor, allocator and cancellation slot are those of the handler.
template <class Token>
[[nodiscard]] constexpr auto with_diagnostics(Token&& token) {
    return with_diagnostics_t<std::decay_t<Token>>(std::forward<Token>(token));
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
                  "pawl::with_diagnostics works with Pawl's async operations that can fail.");
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
