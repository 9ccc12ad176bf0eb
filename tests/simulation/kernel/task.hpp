// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A move-only function that is called once. std::function cannot hold a move-only function. Small
// functions need no memory of their own.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace pawl::simulation {

class task {
public:
    task() noexcept = default;
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, task>)
    task(F&& function) {
        using stored = std::remove_cvref_t<F>;
        if constexpr (fits<stored>)
            store<stored>(std::forward<F>(function));
        else
            store<boxed<stored>>(std::make_unique<stored>(std::forward<F>(function)));
    }
    task(task&& other) noexcept { take(other); }
    task& operator=(task&& other) noexcept {
        if (this != &other) {
            clear();
            take(other);
        }
        return *this;
    }
    task(const task&) = delete;
    task& operator=(const task&) = delete;
    ~task() { clear(); }

    explicit operator bool() const noexcept { return operations_ != nullptr; }
    void operator()() {
        task running(std::move(*this));
        running.operations_->call(running.buffer_.data());
    }

private:
    static constexpr std::size_t buffer_size = 6 * sizeof(void*);
    template <class F>
    static constexpr bool fits =
        sizeof(F) <= buffer_size && alignof(F) <= alignof(std::max_align_t) &&
        std::is_nothrow_move_constructible_v<F>;
    template <class F>
    struct boxed {
        std::unique_ptr<F> function;
        explicit boxed(std::unique_ptr<F> source) noexcept : function(std::move(source)) {}
        void operator()() { std::move (*function)(); }
    };
    struct operations {
        void (*call)(void* function);
        void (*move)(void* from, void* to) noexcept;
        void (*destroy)(void* function) noexcept;
    };
    template <class F>
    static constexpr operations operations_of{
        [](void* function) { std::move (*static_cast<F*>(function))(); },
        [](void* from, void* to) noexcept {
            auto& source = *static_cast<F*>(from);
            new (to) F(std::move(source));
            source.~F();
        },
        [](void* function) noexcept { static_cast<F*>(function)->~F(); }};

    template <class F, class Source>
    void store(Source&& source) {
        new (buffer_.data()) F(std::forward<Source>(source));
        operations_ = &operations_of<F>;
    }
    void take(task& other) noexcept {
        operations_ = std::exchange(other.operations_, nullptr);
        if (operations_ != nullptr) operations_->move(other.buffer_.data(), buffer_.data());
    }
    void clear() noexcept {
        if (auto* const present = std::exchange(operations_, nullptr))
            present->destroy(buffer_.data());
    }

    const operations* operations_ = nullptr;
    alignas(std::max_align_t) std::array<std::byte, buffer_size> buffer_;
};

}  // namespace pawl::simulation
