-- SPDX-License-Identifier: BSL-1.0
-- Copyright (c) 2026 The Pawl authors

-- The other procedures about locks.
delimiter //

-- All of the exclusive locks or none: no row is none. A claim is a name and an owner. Locks the
-- rows in the order of their names; the core names each lock once.
create procedure @.acquire_batch_1(p_ns varbinary(64), p_claims longtext character set utf8mb4,
    p_client varbinary(16), p_who varbinary(2000), p_ttl int)
begin
    declare tokens longtext character set utf8mb4 default '';
    declare round, i, most_ttl, l_waiting int default 0;
    declare at_end, fits boolean default true;
    declare floor, token bigint;
    declare hold_off datetime(6);
    declare a_name varbinary(1536);
    declare a_owner varbinary(64);
    declare asked cursor for
        select c.i, unhex(c.name), unhex(c.owner)
        from json_table(p_claims, '$[*]' columns (i for ordinality,
            name varchar(3072) character set latin1 path '$[0]',
            owner varchar(128) character set latin1 path '$[1]')) c
        order by unhex(c.name);
    declare continue handler for not found set at_end = true;
    declare exit handler for sqlexception begin rollback; resignal; end;
    call @.enter(floor, hold_off, most_ttl);
    if floor is not null and p_ttl > most_ttl then call @.remember_ttl(p_ttl); end if;
    if floor is not null and hold_off is null then
        start transaction;
        -- Round 0 locks the rows and serves their queues, round 1 takes the locks.
        rounds: while round < 2 do
            open asked;
            locks: loop
                set at_end = false;
                fetch asked into i, a_name, a_owner;
                if at_end then leave locks; end if;
                if round = 0 then
                    call @.lock_row(p_ns, a_name);
                    call @.serve(p_ns, a_name, null, p_client);
                    select k.waiting into l_waiting from @.lock k
                        where k.ns = p_ns and k.name = a_name;
                    call @.get_fits(p_ns, a_name, 0, 1, fits);
                    if l_waiting > 0 or not fits then close asked; leave rounds; end if;
                else
                    call @.give(p_ns, a_name, floor, a_owner, p_client, p_who, null, p_ttl, 0, 1,
                        token);
                    set tokens = concat(tokens, if(tokens = '', '', ','),
                        json_object('i', i, 'token', token));
                end if;
            end loop;
            close asked;
            set round = round + 1;
        end while;
        commit;
    end if;
    call @.notify_1();
    if floor is null then
        select -1;
    else
        select s.token from json_table(concat('[', tokens, ']'), '$[*]'
            columns (i int path '$.i', token bigint path '$.token')) s order by s.i;
    end if;
end//

-- No row: the owner does not hold the lock. A repeated call renews the shared hold.
create procedure @.downgrade_1(p_ns varbinary(64), p_name varbinary(1536), p_owner varbinary(64),
    p_client varbinary(16), p_who varbinary(2000), p_ttl int)
begin
    declare present, h_mode int;
    declare token bigint;
    declare t, l_since, expires datetime(6);
    declare is_exclusive boolean;
    declare exit handler for sqlexception begin rollback; resignal; end;
    call @.check_writable();
    start transaction;
    select 1, k.since into present, l_since from @.lock k
        where k.ns = p_ns and k.name = p_name for update;
    if present then
        call @.expire(p_ns, p_name);
        call @.get_hold(p_ns, p_name, p_owner, token, expires, is_exclusive);
        set t = utc_timestamp(6);
        if is_exclusive then
            insert into @.holder values (p_ns, p_name, p_owner, token,
                t + interval p_ttl * 1000 microsecond, l_since, p_ttl, 1, 0, p_client, p_who);
            call @.clear_owner(p_ns, p_name);
            call @.count_holders(p_ns, p_name);
            call @.serve(p_ns, p_name, null, p_client);
        elseif token is not null then
            select h.mode into h_mode from @.holder h
                where h.ns = p_ns and h.name = p_name and h.owner = p_owner;
            if h_mode <> 1 then set token = null; end if;
            update @.holder h set h.expires = t + interval p_ttl * 1000 microsecond,
                h.ttl = p_ttl, h.client = p_client
                where h.ns = p_ns and h.name = p_name and h.owner = p_owner and h.mode = 1;
        end if;
    end if;
    commit;
    call @.notify_1();
    select s.token from (select token) s where s.token is not null;
end//

-- The exclusive hold that has the value continues under a new owner, with the next token. A hold
-- that was acquired without a value has its owner as value. No row: no hold has it.
create procedure @.adopt_1(p_ns varbinary(64), p_name varbinary(1536), p_value varbinary(768),
    p_owner varbinary(64), p_client varbinary(16), p_who varbinary(2000), p_ttl int)
begin
    declare floor, token, ticks, l_fence bigint;
    declare hold_off datetime(6);
    declare most_ttl int;
    declare exit handler for sqlexception begin rollback; resignal; end;
    call @.enter(floor, hold_off, most_ttl);
    if floor is null then
        set token = -1;
    elseif hold_off is not null then
        signal sqlstate 'HY000' set mysql_errno = 1205,
            message_text = 'after a failover, the hold may have ended on the former server';
    else
        if p_ttl > most_ttl then call @.remember_ttl(p_ttl); end if;
        start transaction;
        select k.fence into l_fence from @.lock k where k.ns = p_ns and k.name = p_name
            and coalesce(k.value, k.owner) = p_value and k.owner is not null
            and k.expires > utc_timestamp(6) for update;
        if l_fence is not null then
            call @.get_ticks(ticks);
            set token = greatest(l_fence + 1, floor + ticks);
            update @.lock k set k.fence = token, k.owner = p_owner, k.client = p_client,
                k.who = p_who, k.value = p_value, k.ttl = p_ttl,
                k.expires = utc_timestamp(6) + interval p_ttl * 1000 microsecond
                where k.ns = p_ns and k.name = p_name;
        end if;
        commit;
    end if;
    select s.token from (select token) s where s.token is not null;
end//

create procedure @.resize_1(p_ns varbinary(64), p_name varbinary(1536), p_client varbinary(16),
    p_total int)
begin
    declare exit handler for sqlexception begin rollback; resignal; end;
    start transaction;
    call @.lock_row(p_ns, p_name);
    update @.lock k set k.total = p_total where k.ns = p_ns and k.name = p_name;
    call @.serve(p_ns, p_name, null, p_client);
    commit;
    call @.notify_1();
    select 0;
end//

-- Ends all holds, or with `p_expected`, if a hold has this token, those with this or smaller ones.
create procedure @.force_1(p_ns varbinary(64), p_name varbinary(1536), p_client varbinary(16),
    p_expected bigint)
begin
    declare l_owner, h_owner varbinary(64);
    declare l_client, h_client varbinary(16);
    declare l_fence, others bigint;
    declare was_held boolean default false;
    declare exit handler for sqlexception begin rollback; resignal; end;
    main: begin
        start transaction;
        select k.fence into l_fence from @.lock k where k.ns = p_ns and k.name = p_name for update;
        if l_fence is null then leave main; end if;
        call @.expire(p_ns, p_name);
        select k.owner, k.client into l_owner, l_client
            from @.lock k where k.ns = p_ns and k.name = p_name;
        if p_expected is not null then
            select count(*) into others from @.holder h
                where h.ns = p_ns and h.name = p_name and h.token = p_expected;
            if others = 0 and (l_owner is null or l_fence <> p_expected) then leave main; end if;
        end if;
        if l_owner is not null then
            set was_held = true;
            call @.notify(l_client, concat_ws(' ', 'f', l_owner, p_name));
            call @.clear_owner(p_ns, p_name);
        end if;
        drops: loop
            set h_owner = null;
            select h.owner, h.client into h_owner, h_client from @.holder h
                where h.ns = p_ns and h.name = p_name
                and (p_expected is null or h.token <= p_expected) limit 1;
            if h_owner is null then leave drops; end if;
            set was_held = true;
            call @.notify(h_client, concat_ws(' ', 'f', h_owner, p_name));
            delete from @.holder where ns = p_ns and name = p_name and owner = h_owner;
        end loop;
        call @.count_holders(p_ns, p_name);
        call @.serve(p_ns, p_name, null, p_client);
    end;
    commit;
    call @.notify_1();
    select if(was_held, 't', 'f');
end//

-- A row for each hold of each lock whose name is `p_name`, or begins with it if `p_is_prefix`; a
-- lock without a live hold has one row if it is asked for by its name. Columns: name, waiting,
-- total, owner, who, mode, permits, token, since, remaining.
create procedure @.inspect_1(p_ns varbinary(64), p_name varbinary(1536), p_client varbinary(16),
    p_is_prefix boolean)
begin
    declare t datetime(6) default utc_timestamp(6);
    declare last_name varbinary(1537)
        default if(p_is_prefix, concat(p_name, repeat(x'ff', 1536 - length(p_name))), p_name);
    select k.name, if(k.waiting = 0, 0, (select count(*) from @.waiter q
            where q.ns = k.ns and q.name = k.name and if(q.expires is null,
                q.client = p_client or is_used_lock(concat('pawl.', q.client)) is not null,
                q.expires > t))),
        coalesce(k.total, 0), h.owner, h.who, h.mode, h.permits, h.token,
        timestampdiff(microsecond, timestamp'1970-01-01 00:00:00', h.since),
        greatest(0, ceil(timestampdiff(microsecond, t, h.expires) / 1000))
        from @.lock k left join (
            select l.ns, l.name, l.owner, l.who, 0 as mode, 1 as permits, l.fence as token,
                l.since, l.expires from @.lock l where l.ns = p_ns and l.name >= p_name
                and l.name <= last_name and l.owner is not null and l.expires > t
            union all
            select i.ns, i.name, i.owner, i.who, i.mode, i.permits, i.token, i.since, i.expires
                from @.holder i where i.ns = p_ns and i.name >= p_name and i.name <= last_name
                and i.expires > t) h on h.ns = k.ns and h.name = k.name
        where k.ns = p_ns and k.name >= p_name and k.name <= last_name
        and (h.name is not null or not p_is_prefix)
        order by k.name, h.token, h.since, h.owner;
end//

-- The call of a client's second connection, the listener: waits for messages, and returns them
-- with their numbers. `p_read` is a list of the messages that have arrived. The wait is for the
-- user lock of the client's first connection; `notify_1` ends it with an error, and the listener
-- calls again. No GET_LOCK with a message to read, because a kill in between is lost. SLEEP in its
-- place stalls all sleepers of a MariaDB server whenever one is killed.
create procedure @.listen_1(p_client varbinary(16),
    p_read longtext character set utf8mb4, p_wait int)
begin
    declare listener varbinary(64) default concat('pawl-', p_client);
    declare i int default 0;
    declare has_message int;
    declare exit handler for sqlexception begin rollback; resignal; end;
    if coalesce(is_used_lock(listener), 0) <> connection_id() then
        -- As hello_1: with other defaults, it would lock the messages, or never see new ones.
        set autocommit = 1;
        set session transaction isolation level read committed;
        set session innodb_lock_wait_timeout = 1;
        set session wait_timeout = 60;
        do get_lock(listener, 5);
    end if;
    while i < json_length(p_read) do
        delete from @.message where client = p_client and seq = cast(
            unhex(json_unquote(json_extract(p_read, concat('$[', i, '][0]')))) as signed);
        set i = i + 1;
    end while;
    select 1 into has_message from @.message g where g.client = p_client limit 1;
    if has_message is null then
        if get_lock(concat('pawl.', p_client), p_wait) then
            do release_lock(concat('pawl.', p_client));
        end if;
    end if;
    select g.seq, g.message from @.message g where g.client = p_client order by g.seq;
end//
