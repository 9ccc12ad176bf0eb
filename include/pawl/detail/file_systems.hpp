// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An implementation detail: file systems that several hosts share. Standard headers only.
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Pawl needs C++20: compile with -std=c++20"
#endif

#include <array>
#include <string_view>

namespace pawl::detail {

// A file system by the magic number that statfs(2) returns.
struct file_system {
    unsigned long magic;
    std::string_view name;
};

// File locks and shared memory do not work between hosts there. From <linux/magic.h> and the
// sources of the file systems.
inline constexpr auto shared_file_systems = std::to_array<file_system>({
    {0x6969, "NFS"},        {0x517b, "SMB"},          {0xff534d42, "CIFS"},
    {0xfe534d42, "SMB2"},   {0x01021997, "9P"},       {0x65735546, "FUSE"},
    {0x5346414f, "AFS"},    {0x6b414653, "AFS"},      {0x73757245, "Coda"},
    {0x00c36400, "Ceph"},   {0x0bd00bd0, "Lustre"},   {0x01161970, "GFS2"},
    {0x7461636f, "OCFS2"},  {0x47504653, "GPFS"},     {0x564c, "NCP"},
    {0xaad7aaea, "PanFS"},  {0x20030528, "OrangeFS"}, {0x19830326, "BeeGFS"},
    {0xbacbacbc, "vmhgfs"}, {0x786f4256, "vboxsf"},   {0x7c7c6673, "prl_fs"},
});

// The name of a shared file system with this magic number; empty for all others.
[[nodiscard]] constexpr std::string_view shared_file_system(unsigned long magic) noexcept {
    for (const auto& each : shared_file_systems)
        if (each.magic == (magic & 0xffffffffUL)) return each.name;
    return {};
}

}  // namespace pawl::detail
