// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The memory of one Lua state. A script makes many small objects and drops all of them, so freed
// blocks are kept by size and used again.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace pawl::simulation {

class lua_memory {
public:
    lua_memory() = default;
    lua_memory(const lua_memory&) = delete;
    lua_memory& operator=(const lua_memory&) = delete;
    ~lua_memory();

    // Lua's allocator function; `self` is the lua_memory.
    static void* reallocate(void* self, void* block, std::size_t old_size,
                            std::size_t new_size) noexcept;

private:
    struct free_block {
        free_block* next;
    };
    static constexpr std::size_t unit = 16, classes = 33, chunk_size = 65'536;

    static std::size_t class_of(std::size_t size) noexcept { return (size + unit - 1) / unit; }
    static bool is_small(std::size_t size) noexcept { return class_of(size) < classes; }
    void* allocate(std::size_t size) noexcept;
    void deallocate(void* block, std::size_t size) noexcept;
    bool add_chunk() noexcept;

    std::array<free_block*, classes> free_blocks_{};
    std::vector<void*> chunks_;
    std::byte* rest_ = nullptr;  // of the newest chunk
    std::size_t rest_size_ = 0;
};

}  // namespace pawl::simulation
