// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The completion handler that with_diagnostics makes: what it throws, and what it takes over from
// the caller's handler.
#include <pawl/client.hpp>
#include <pawl/memory.hpp>
#include <pawl/with_diagnostics.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>

#include <gtest/gtest.h>

#include <memory_resource>

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using pawl::detail::to_exception;

TEST(WithDiagnostics, TheExceptionHasTheReasonAndTheMessage) {
    const error_code code = make_error_code(pawl::errc::lost);
    try {
        std::rethrow_exception(to_exception(code, pawl::diagnostics("a message")));
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), pawl::errc::lost);
        EXPECT_STREQ(e.what(), "a message");
        EXPECT_EQ(e.code(), pawl::errc::lost);
    }
}

TEST(WithDiagnostics, WithoutAMessageTheCodeHasOne) {
    const error_code code = make_error_code(pawl::errc::lost);
    try {
        std::rethrow_exception(to_exception(code, pawl::diagnostics()));
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.what(), code.message());
    }
}

TEST(WithDiagnostics, ACancellationKeepsItsCondition) {
    try {
        std::rethrow_exception(
            to_exception(asio::error::operation_aborted, pawl::diagnostics("a message")));
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), pawl::errc::cancelled);
        EXPECT_TRUE(e.code() == std::errc::operation_canceled);
    }
}

TEST(WithDiagnostics, ACodeOfAnotherLibraryStays) {
    try {
        std::rethrow_exception(to_exception(asio::error::eof, pawl::diagnostics()));
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), asio::error::eof);
    }
}

template <class Handler>
void expect_associations_of(const Handler& outer,
                            const asio::strand<asio::io_context::executor_type>& strand,
                            const asio::cancellation_slot& slot,
                            std::pmr::memory_resource* memory) {
    EXPECT_EQ(asio::get_associated_executor(outer), strand);
    EXPECT_EQ(asio::get_associated_cancellation_slot(outer), slot);
    EXPECT_EQ(asio::get_associated_allocator(outer).resource(), memory);
}

TEST(WithDiagnostics, ExecutorSlotAndAllocatorAreTheHandlers) {
    asio::io_context loop;
    asio::cancellation_signal signal;
    std::pmr::monotonic_buffer_resource memory;
    const auto strand = asio::make_strand(loop);
    const auto handler = asio::bind_allocator(
        std::pmr::polymorphic_allocator<int>(&memory),
        asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(strand, [](auto&&...) {})));
    const pawl::detail::outcome_handler<std::decay_t<decltype(handler)>> plain{handler, nullptr};
    const pawl::detail::exception_handler<std::decay_t<decltype(handler)>> throwing{
        handler, nullptr, nullptr};
    expect_associations_of(plain, strand, signal.slot(), &memory);
    expect_associations_of(throwing, strand, signal.slot(), &memory);
}

// A deferred operation may begin any number of times, each time with diagnostics of its own.
TEST(WithDiagnostics, ADeferredOperationCanBeginTwice) {
    asio::io_context loop;
    std::vector<std::string> messages;
    {
        pawl::client locks(loop.get_executor(), pawl::memory::at());
        const auto operation = locks.async_inspect("", pawl::with_diagnostics(asio::deferred));
        const auto note = [&](std::exception_ptr failure, const pawl::lock_info&) {
            try {
                std::rethrow_exception(failure);
            } catch (const pawl::error& e) {
                messages.emplace_back(e.what());
            }
        };
        operation(note);
        operation(note);
        EXPECT_TRUE(messages.empty());
        loop.run();
    }
    EXPECT_EQ(messages,
              std::vector<std::string>(2, "The lock's name is empty; give it 1 to 512 bytes."));
}

}  // namespace
