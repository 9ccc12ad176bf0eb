// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "job_progress.hpp"

#include "../ui/failure.hpp"

#include <sys/mman.h>
#include <new>

namespace pawl::cli {

job_progress::job_progress() {
    void* memory =
        ::mmap(nullptr, sizeof *stage_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw system_failure("Cannot share memory");
    stage_ = new (memory) std::atomic<job_stage>(job_stage::waiting);
}

job_progress::~job_progress() { ::munmap(stage_, sizeof *stage_); }

}  // namespace pawl::cli
