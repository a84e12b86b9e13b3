import { NAMED_COLUMNS, OWN_TABLES, SQL_IN_STORES, SQL_WITHOUT_CLOCK, STATEMENT_VERBS } from './sql.ts'
import { broken, DOMAIN, file, type Sample } from './sample.ts'

export const SQL_SAMPLES: readonly Sample[] = [
  {
    rule: SQL_IN_STORES,
    fails: [
      broken('server/src/api/me.ts', "'select pg_sleep(1)'"),
      broken('server/src/api/me.ts', '`-- why\n select id from grants`'),
      broken('server/src/api/me.ts', "'/* why */ delete from grants'"),
      broken('server/src/api/me.ts', "'values (1)'"),
      broken('server/src/api/me.ts', "'savepoint a'"),
      broken('server/src/api/me.ts', "'vacuum analyze payments'"),
      broken('server/src/api/me.ts', "'create or replace function f() returns int'"),
      broken('server/src/api/me.ts', "'listen events'"),
      broken('server/src/api/me.ts', "'call f()'"),
      broken('server/src/api/me.ts', "'truncate payments'"),
      broken('server/src/api/me.ts', "'copy payments from stdin'"),
      broken(`${DOMAIN}/grants/find-grant.ts`, '`select * from grants where id = ${id}`'),
      broken('server/src/api/me.ts', "'insert into agents (id) values ($1)'"),
      broken('server/src/api/me.ts', "'update agents set id = $1'"),
      broken('server/src/api/me.ts', "'delete from agents where id = $1'"),
      broken('server/src/api/me.ts', '`\n  with spent as (select 1) select * from spent`'),
      broken('server/src/api/me.ts', "'begin'"),
    ],
    passes: [
      file(`${DOMAIN}/grants/grants-store.ts`, "'select * from grants'"),
      file('server/src/api/me.ts', "'Set A=b'\n'Call us (now)'\n'copy the key'\n'Values are kept'"),
      file(`${DOMAIN}/grants/store.ts`, "'select * from grants'"),
      file('server/src/db/transaction.ts', "'begin'"),
      file('server/src/api/me.ts', "'Select a wallet'\n'begin again'\n'update available'\n'with care'"),
      file('server/src/api/me.test.ts', "'select * from grants'"),
    ],
  },
  {
    rule: SQL_WITHOUT_CLOCK,
    fails: [
      broken(`${DOMAIN}/grants/grants-store.ts`, '"select id from grants where a > \'now\'::timestamptz"'),
      broken(`${DOMAIN}/grants/grants-store.ts`, "'select age(created_at) from grants'"),
      broken(`${DOMAIN}/grants/grants-store.ts`, "'select uuidv7()'"),
      broken(`${DOMAIN}/connections/issue-at-once-store.ts`, "'update a set b = clock_timestamp()'"),
      broken(`${DOMAIN}/grants/store.ts`, "'select * from grants where expires_at > now()'"),
      broken('server/src/db/migrate.ts', "'insert into migrations values (current_timestamp)'"),
      broken('server/migrations/0001_core.sql', 'create table a (at timestamptz default now());'),
    ],
    passes: [
      file(`${DOMAIN}/grants/grants-store.ts`, "'select age(created_at, $1) from grants'"),
      file('server/src/db/inspect-database.ts', "'select clock_timestamp() as clock'"),
      file(`${DOMAIN}/connections/take-refresh-tokens-store.ts`, "'update a set b = clock_timestamp()'"),
      file('server/migrations/0001_core.sql', '-- no now() here\ncreate table a (at timestamptz);'),
      file(`${DOMAIN}/grants/store.ts`, "// now()\n'select * from grants where expires_at > $1'\nclock.now()"),
    ],
  },
  {
    rule: STATEMENT_VERBS,
    fails: [
      broken(`${DOMAIN}/grants/grants-store.ts`, "export function saveRequest() { return { name: 'keep_request' } }"),
      broken('server/src/db/leases.ts', "function releaseLease() { return { name: 'give_back' } }"),
    ],
    passes: [
      file(
        `${DOMAIN}/grants/grants-store.ts`,
        "export function saveRequest() { return { name: 'save_grant_request' } }",
      ),
      file(`${DOMAIN}/grants/grants-store.ts`, "const TEXT = 'a'\nexport const ROW = { name: 'read_row' }"),
      file(`${DOMAIN}/grants/find-grant.ts`, "export function saveRequest() { return { name: 'keep_request' } }"),
    ],
  },
  {
    rule: OWN_TABLES,
    fails: [
      ...[
        'delete from grants',
        'delete from grants returning id',
        'update public.grants set a = 1',
        'truncate grants',
        'merge into grants using x on true when matched then delete',
        'with a as (update grants set x = 1 returning id) select id from a',
      ].map((sql) => ({
        files: {
          [`${DOMAIN}/grants/grants-store.ts`]: "'insert into grants (id) values ($1)'",
          [`${DOMAIN}/payments/payments-store.ts`]: `\n'${sql}'`,
        },
        at: [`${DOMAIN}/payments/payments-store.ts:2`],
      })),
      {
        files: {
          'server/src/db/leases.ts': "'insert into leases (name) values ($1)'",
          'server/src/limiter/store.ts': "'delete from leases'",
        },
        at: ['server/src/limiter/store.ts:1'],
      },
      {
        files: {
          [`${DOMAIN}/grants/store.ts`]: "'insert into grants (id) values ($1)'",
          [`${DOMAIN}/payments/store.ts`]: "'select * from grants'\n'update grants set status = $1'",
        },
        at: [`${DOMAIN}/payments/store.ts:2`],
      },
    ],
    passes: [
      {
        [`${DOMAIN}/grants/admission/store.ts`]: "'update grants set status = $1'",
        [`${DOMAIN}/grants/store.ts`]: "'insert into grants (id) values ($1)'\n'select 1 for update'",
        [`${DOMAIN}/payments/store.ts`]:
          "'select * from grants for update'\n'insert into payments (id) values ($1) on conflict do update set a = 1'",
      },
    ],
  },
  {
    rule: NAMED_COLUMNS,
    fails: [
      ...['update grants set a = 1 returning *', 'table grants', 'select to_jsonb(g) from grants g'].map((sql) => ({
        files: {
          'server/migrations/0001_core.sql': 'create table grants (id text);',
          [`${DOMAIN}/grants/grants-store.ts`]: `\n'${sql}'`,
        },
        at: [`${DOMAIN}/grants/grants-store.ts:2`],
      })),
      {
        files: {
          'server/migrations/0001_core.sql': 'create table leases (name text);',
          'server/src/db/leases.ts': "'select * from leases'",
        },
        at: ['server/src/db/leases.ts:1'],
      },
      {
        files: {
          'server/migrations/0001_core.sql': 'create table grants (id text);',
          [`${DOMAIN}/grants/store.ts`]: "'select * from grants'\n'select g.*, 1 from w join grants as g on true'",
          [`${DOMAIN}/grants/summaries/store.ts`]: "'select g.*, 1'\n\n'from grants g'",
        },
        at: [`${DOMAIN}/grants/store.ts:1`, `${DOMAIN}/grants/store.ts:2`, `${DOMAIN}/grants/summaries/store.ts:1`],
      },
    ],
    passes: [
      {
        'server/migrations/0001_core.sql': 'create table grants (id text);',
        [`${DOMAIN}/grants/grants-store.ts`]: "'update grants set data = to_jsonb(source)'",
      },
      {
        'server/migrations/0001_core.sql': 'create table grants (id text);',
        [`${DOMAIN}/grants/store.ts`]: "'with g as (select id from grants) select g.*, count(*) from g'",
        [`${DOMAIN}/grants/store.test.ts`]: "'select * from grants'",
      },
    ],
  },
]
