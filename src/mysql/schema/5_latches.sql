-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- Latches and barriers. The row of the latch is locked first.
delimiter //

-- Locks and reads the row. `p_generation` is null: the latch is unknown.
create procedure @.latch_row(p_ns varbinary(64), p_name varbinary(1536), out p_count bigint,
    out p_generation bigint, out p_ttl bigint, out p_parties bigint)
begin
    declare l_expires datetime(6);
    select k.count, k.generation, k.ttl, k.parties, k.expires
        into p_count, p_generation, p_ttl, p_parties, l_expires
        from @.latch k where k.ns = p_ns and k.name = p_name for update;
    if p_generation is null then
        -- The lock on a new row keeps others out, and the row has ended.
        insert into @.latch values (p_ns, p_name, 0, 0, 0, timestamp'2000-01-01 00:00:00', 0, 0)
            on duplicate key update count = count;
        select k.count, k.generation, k.ttl, k.parties, k.expires
            into p_count, p_generation, p_ttl, p_parties, l_expires
            from @.latch k where k.ns = p_ns and k.name = p_name for update;
    end if;
    if l_expires <= utc_timestamp(6) then
        set p_count = null, p_generation = null, p_ttl = null, p_parties = null;
    end if;
end//

-- The waiters join again if their generation is not over.
create procedure @.wake_latch(p_ns varbinary(64), p_name varbinary(1536))
begin
    declare w_owner varbinary(64);
    declare w_client varbinary(16);
    wakes: loop
        set w_owner = null;
        select w.owner, w.client into w_owner, w_client from @.latch_waiter w
            where w.ns = p_ns and w.name = p_name and w.expires is null limit 1;
        if w_owner is null then leave wakes; end if;
        delete from @.latch_waiter where ns = p_ns and name = p_name and owner = w_owner;
        if @pawl_woken is null or locate(w_client, @pawl_woken) = 0 then
            call @.notify(w_client, concat('l ', p_name));
            set @pawl_woken = concat(coalesce(@pawl_woken, ''), w_client);
        end if;
    end loop;
    set @pawl_woken = null;
end//

-- The row is locked. `p_is_known`: it is not over.
create procedure @.begin_generation(p_ns varbinary(64), p_name varbinary(1536), p_floor bigint,
    p_count bigint, p_parties bigint, p_ttl bigint, p_is_known boolean, out p_generation bigint)
begin
    declare ticks, l_generation, s_generation bigint;
    declare s_request varbinary(64);
    select k.generation into l_generation from @.latch k where k.ns = p_ns and k.name = p_name;
    if p_is_known then
        steps: loop
            set s_request = null;
            select s.request into s_request from @.latch_step s where s.ns = p_ns
                and s.name = p_name and s.generation < l_generation limit 1;
            if s_request is null then leave steps; end if;
            delete from @.latch_step
                where ns = p_ns and name = p_name and request = s_request;
        end loop;
    end if;
    call @.get_ticks(ticks);
    set p_generation = greatest(l_generation + 1, p_floor + ticks);
    update @.latch k set k.count = p_count, k.generation = p_generation,
        k.first = if(p_is_known, k.first, p_generation), k.ttl = p_ttl, k.parties = p_parties,
        k.expires = utc_timestamp(6) + interval p_ttl * 1000 microsecond
        where k.ns = p_ns and k.name = p_name;
end//

-- Status: y the latch was set, n a generation is counting, r say hello first.
create procedure @.latch_set_1(p_ns varbinary(64), p_name varbinary(1536), p_count bigint,
    p_ttl bigint)
begin
    declare status char(1);
    declare floor, l_count, l_generation, l_ttl, l_parties bigint;
    declare hold_off datetime(6);
    declare most_ttl int;
    declare exit handler for sqlexception begin rollback; resignal; end;
    call @.enter(floor, hold_off, most_ttl);
    if floor is null then
        set status = 'r';
    else
        start transaction;
        call @.latch_row(p_ns, p_name, l_count, l_generation, l_ttl, l_parties);
        set status = if(l_count > 0, 'n', 'y');
        if status = 'y' then
            call @.begin_generation(p_ns, p_name, floor, p_count, 0, p_ttl,
                l_generation is not null, l_generation);
        end if;
        commit;
    end if;
    select status;
end//

-- Status: c counted, u unknown latch, r say hello first, p the barrier has other parties.
-- `p_parties` > 0 is an arrival. A step of a request that has counted is not counted again.
create procedure @.latch_step_1(p_ns varbinary(64), p_name varbinary(1536), p_request varbinary(64),
    p_steps bigint, p_parties bigint, p_ttl bigint)
begin
    declare status char(1);
    declare generation, count, parties bigint;
    declare floor, l_count, l_generation, l_ttl, l_parties, next_generation bigint;
    declare hold_off datetime(6);
    declare most_ttl int;
    declare was_counting boolean;
    declare exit handler for sqlexception begin rollback; resignal; end;
    main: begin
        call @.enter(floor, hold_off, most_ttl);
        if floor is null then set status = 'r'; leave main; end if;
        start transaction;
        call @.latch_row(p_ns, p_name, l_count, l_generation, l_ttl, l_parties);
        select 'c', s.generation, s.count into status, generation, count from @.latch_step s
            where s.ns = p_ns and s.name = p_name and s.request = p_request;
        if status is not null then leave main; end if;
        if p_parties = 0 and l_generation is null then set status = 'u'; leave main; end if;
        if p_parties > 0 then
            if l_count > 0 and l_parties <> p_parties then
                set status = 'p', parties = l_parties;
                leave main;
            end if;
            if coalesce(l_count, 0) = 0 then
                call @.begin_generation(p_ns, p_name, floor, p_parties, p_parties, p_ttl,
                    l_generation is not null, next_generation);
                set l_generation = next_generation, l_count = p_parties, l_parties = p_parties;
            end if;
            set l_ttl = p_ttl;
        end if;
        set was_counting = l_count > 0;
        set l_count = greatest(0, l_count - p_steps);
        set status = 'c', generation = l_generation, count = l_count;
        insert into @.latch_step values (p_ns, p_name, p_request, l_count, l_generation);
        update @.latch k set k.count = l_count, k.ttl = l_ttl,
            k.expires = utc_timestamp(6) + interval l_ttl * 1000 microsecond
            where k.ns = p_ns and k.name = p_name;
        if was_counting and l_count = 0 then
            if l_parties > 0 then
                call @.begin_generation(p_ns, p_name, floor, l_parties, l_parties, l_ttl, true,
                    next_generation);
            end if;
            call @.wake_latch(p_ns, p_name);
        end if;
    end;
    if status = 'u' then rollback; else commit; end if;
    call @.notify_1();
    select status, generation, count, parties;
end//

-- The state of the latch: count, generation, first, parties, remaining, all null if the latch is
-- unknown, and the number of waiters. With `p_owner`, a waiter joins before it reads, so that it
-- misses no count that reaches 0. `p_wait` is as in an attempt: 0 leaves.
create procedure @.latch_look_1(p_ns varbinary(64), p_name varbinary(1536), p_owner varbinary(64),
    p_client varbinary(16), p_wait int)
begin
    declare dead_owner varbinary(64);
    declare present int;
    declare waiters bigint;
    declare t datetime(6);
    declare exit handler for sqlexception begin rollback; resignal; end;
    start transaction;
    if p_owner <> '' and p_wait = 0 then
        delete from @.latch_waiter where ns = p_ns and name = p_name and owner = p_owner;
    elseif p_owner <> '' then
        -- A count down that reads the waiters before this commit has the row locked until after it.
        select 1 into present from @.latch k
            where k.ns = p_ns and k.name = p_name lock in share mode;
        insert into @.latch_waiter values (p_ns, p_name, p_owner,
            if(p_wait = 2, utc_timestamp(6) + interval 15 second, null), p_client)
            on duplicate key update expires = values(expires), client = values(client);
    else
        drops: loop
            set dead_owner = null, t = utc_timestamp(6);
            select w.owner into dead_owner from @.latch_waiter w
                where w.ns = p_ns and w.name = p_name and if(w.expires is null,
                    w.client <> p_client and is_used_lock(concat('pawl.', w.client)) is null,
                    w.expires <= t) limit 1;
            if dead_owner is null then leave drops; end if;
            delete from @.latch_waiter where ns = p_ns and name = p_name and owner = dead_owner;
        end loop;
    end if;
    select count(*) into waiters from @.latch_waiter w where w.ns = p_ns and w.name = p_name;
    set t = utc_timestamp(6);
    select k.count, k.generation, k.first, k.parties,
        greatest(0, ceil(timestampdiff(microsecond, t, k.expires) / 1000)), waiters
        from (select 1) u left join @.latch k
            on k.ns = p_ns and k.name = p_name and k.expires > t;
    commit;
end//

-- f: the latch did not exist.
create procedure @.latch_reset_1(p_ns varbinary(64), p_name varbinary(1536))
begin
    declare l_count, l_generation, l_ttl, l_parties bigint;
    declare exit handler for sqlexception begin rollback; resignal; end;
    start transaction;
    call @.latch_row(p_ns, p_name, l_count, l_generation, l_ttl, l_parties);
    if l_generation is not null then
        update @.latch k set k.count = 0, k.expires = utc_timestamp(6)
            where k.ns = p_ns and k.name = p_name;
        call @.wake_latch(p_ns, p_name);
        commit;
    end if;
    rollback;
    call @.notify_1();
    select if(l_generation is null, 'f', 't');
end//
