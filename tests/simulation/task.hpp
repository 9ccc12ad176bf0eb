// A function to call once; moves only. std::function cannot hold what moves only.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace pawl::simulation {

class task {
public:
    task() noexcept = default;
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, task>)
    task(F&& what)
        : what_(std::make_unique<holder<std::remove_cvref_t<F>>>(std::forward<F>(what))) {}

    explicit operator bool() const noexcept { return what_ != nullptr; }
    void operator()() { std::exchange(what_, nullptr)->call(); }

private:
    struct callable {
        virtual ~callable() = default;
        virtual void call() = 0;
    };
    template <class F>
    struct holder final : callable {
        template <class G>
        explicit holder(G&& from) : what(std::forward<G>(from)) {}
        void call() override { std::move(what)(); }
        F what;
    };
    std::unique_ptr<callable> what_;
};

}  // namespace pawl::simulation
