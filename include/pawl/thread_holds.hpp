// What the standard-shaped locks keep their handles in. Standard headers only.
#pragma once

#include <pawl/blocking.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace pawl::blocking {

// The holds of the threads that use one object: each finds its own newest one, so that a thread
// whose hold was lost touches nobody else's. Thread-safe.
class thread_holds {
public:
    thread_holds(client& locks, std::string name);

    void keep(held_lock mine, lock_mode mode = lock_mode::exclusive);
    // Acquires and keeps it; false: somebody else's, or still so after `wait`. Throws
    // errc::deadlock instead of waiting without end for a hold of the calling thread.
    bool try_acquire(const lock_options& options);
    bool acquire(lock_options options, duration wait);
    // Out of here: the calling thread's, else the oldest of another thread, else an empty one.
    [[nodiscard]] held_lock take() noexcept;
    // The calling thread's once more; false: it has none. Throws errc::lost when that has ended.
    bool enter_again();
    // Out of here with the last leaving of the calling thread; else an empty one.
    [[nodiscard]] held_lock leave() noexcept;
    // Valid until the calling thread takes it; an empty one where it has none.
    [[nodiscard]] const held_lock& mine() const noexcept;
    // The same, but errc::bad_option where it has none.
    [[nodiscard]] const held_lock& held() const;
    // The calling thread's; errc::bad_option where it has none.
    void renew();
    void downgrade();

private:
    struct entry {
        std::uint64_t of;  // a thread; the system's ids are used again, these are not
        held_lock lock;
        lock_mode mode;
        std::size_t depth = 1;  // how often its thread has entered
    };

    [[noreturn]] void refuse() const;
    void refuse_deadlock(lock_mode mode) const;
    [[nodiscard]] std::shared_ptr<core::lease> own_lease() const;

    std::shared_ptr<loop> loop_;
    std::string name_;
    mutable std::mutex guard_;  // of the list
    std::list<entry> all_;      // the newest first
    held_lock none_;
};

}  // namespace pawl::blocking
