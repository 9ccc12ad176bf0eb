-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The schema is complete. A replica that takes over knows at least this ttl: the pause after a
-- failover depends on it.
delimiter //
insert ignore into @.meta values (1, 1, 0, null, 30000, null)//
