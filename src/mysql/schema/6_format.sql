-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The schema is complete.
delimiter //
insert ignore into @.meta values (1, 1, 0, null, 0, null)//
