// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lua_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace pawl::simulation {

lua_memory::~lua_memory() {
    for (auto* const chunk : chunks_)
        std::free(chunk);
}

void* lua_memory::reallocate(void* self, void* block, std::size_t old_size,
                             std::size_t new_size) noexcept {
    auto& memory = *static_cast<lua_memory*>(self);
    if (new_size == 0) {
        if (block != nullptr) memory.deallocate(block, old_size);
        return nullptr;
    }
    if (block == nullptr) return memory.allocate(new_size);
    if (!is_small(old_size) && !is_small(new_size)) return std::realloc(block, new_size);
    if (is_small(old_size) && class_of(old_size) == class_of(new_size)) return block;
    auto* const moved = memory.allocate(new_size);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, std::min(old_size, new_size));
    memory.deallocate(block, old_size);
    return moved;
}

void* lua_memory::allocate(std::size_t size) noexcept {
    if (!is_small(size)) return std::malloc(size);
    auto*& first = free_blocks_[class_of(size)];
    if (first != nullptr) {
        auto* const block = std::exchange(first, first->next);
        // The next free block is needed soon, and has probably left the cache.
        __builtin_prefetch(first);
        return block;
    }
    const auto rounded_size = class_of(size) * unit;
    if (rest_size_ < rounded_size && !add_chunk()) return nullptr;
    rest_size_ -= rounded_size;
    return std::exchange(rest_, rest_ + rounded_size);
}

void lua_memory::deallocate(void* block, std::size_t size) noexcept {
    if (!is_small(size)) return std::free(block);
    auto*& first = free_blocks_[class_of(size)];
    first = new (block) free_block{first};
}

bool lua_memory::add_chunk() noexcept {
    auto* const chunk = std::malloc(chunk_size);
    if (chunk == nullptr) return false;
    chunks_.push_back(chunk);
    rest_ = static_cast<std::byte*>(chunk);
    rest_size_ = chunk_size;
    return true;
}

}  // namespace pawl::simulation
