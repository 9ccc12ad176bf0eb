# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# The databases' own libraries belong to their backends.
set(libraries "")
