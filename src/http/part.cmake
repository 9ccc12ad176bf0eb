# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Pawl authors

# Needs the part `net`; its users name both.
set(libraries "")
