import type { Rule } from '../rule.ts'
import { ACTOR_REQUIRED } from './actors.ts'
import { ENVIRONMENT, NO_FLOATS, NO_MATH_RANDOM, NO_NUMBERS, NO_PROCESS_IMPORT, ONE_CLOCK } from './ambient.ts'
import { FLOORS } from './floors.ts'
import { NO_CYCLES, NO_DEAD_FILES } from './graph.ts'
import { NO_MACHINE_NAMES } from './machine.ts'
import { PURE_FILES } from './purity.ts'
import { NO_BARRELS, NO_DEFAULT_EXPORTS, NO_EXPORT_ALL, SMALL_FILES } from './shape.ts'
import { NAMED_COLUMNS, OWN_TABLES, SQL_IN_STORES, SQL_WITHOUT_CLOCK } from './sql.ts'
import { WORKSPACE_BORDERS } from './workspaces.ts'

type Files = Readonly<Record<string, string>>

/** Small trees that break or keep a rule; `at` lists every violation that is expected, as `path:line`. */
interface Sample {
  readonly rule: Rule
  readonly fails: readonly { readonly files: Files; readonly at: readonly string[] }[]
  readonly passes: readonly Files[]
}

/** One file under a path. */
function file(path: string, text: string): Files {
  return { [path]: text }
}

/** One file that breaks the rule in its second line. */
function broken(path: string, text: string): { files: Files; at: string[] } {
  return { files: file(path, `\n${text}`), at: [`${path}:2`] }
}

function importing(path: string): string {
  return `import { a } from '${path}'`
}

const DOMAIN = 'server/src/domain'
export const SAMPLES: readonly Sample[] = [
  {
    rule: FLOORS,
    fails: [
      broken('server/src/lib/retry.ts', importing('../values/money.ts')),
      broken('server/src/api/me.ts', importing('../oauth/token.ts')),
      broken('server/src/main.ts', importing('./db/pool.ts')),
      broken('server/src/api/me.ts', importing('../doctor/finding.ts')),
      broken('server/src/chain/open-chain.ts', importing('../db/pool.ts')),
      broken('server/src/db/pool.ts', "import type { Grant } from '../domain/grants/grant.ts'"),
      broken(`${DOMAIN}/wallets/list-wallets.ts`, "await import('../grants/grant.ts')"),
      broken(`${DOMAIN}/deposits/list-deposits.ts`, importing('../payments/payment.ts')),
      broken(`${DOMAIN}/keys/key.ts`, importing('../people/person.ts')),
      broken(`${DOMAIN}/context.ts`, importing('./events/event.ts')),
      broken(`${DOMAIN}/grants/grant.ts`, importing('../../api/server.ts')),
      { files: file('server/src/misc/a.ts', ''), at: ['server/src/misc/a.ts:1'] },
      { files: file('server/src/open-api.ts', ''), at: ['server/src/open-api.ts:1'] },
    ],
    passes: [
      file('server/src/service.ts', importing('./api/server.ts')),
      file('server/src/api/me.ts', importing('../domain/keys/authenticate-key.ts')),
      file(`${DOMAIN}/payments/create-payment.ts`, importing('../grants/policy.ts')),
      file(`${DOMAIN}/events/record-event.ts`, importing('../context.ts')),
      file('server/src/limiter/store.ts', importing('../db/pool.ts')),
      file('server/src/chain/open-chain.test.ts', importing('../db/pool.ts')),
      file('server/src/lib/logger.ts', importing('pino')),
    ],
  },
  {
    rule: WORKSPACE_BORDERS,
    fails: [
      broken('sandbox/src/chain/start-chain.ts', importing('@bursar/server/src/values/money.ts')),
      broken('sandbox/src/main.ts', importing('../../server/src/main.ts')),
      broken('server/src/main.ts', importing('../../sandbox/src/main.ts')),
    ],
    passes: [
      file('sandbox/src/control/routes.ts', importing('@bursar/server/src/service.ts')),
      file('sandbox/src/start-server.ts', "new URL('../../server/src/main.ts', import.meta.url)"),
      file('server/src/db/pool.test.ts', importing('../../../sandbox/src/postgres/start-postgres.ts')),
    ],
  },
  {
    rule: PURE_FILES,
    fails: [
      broken('server/src/values/money.ts', importing('node:fs')),
      broken(`${DOMAIN}/grants/policy.ts`, "import type { Clock } from '../../lib/clock.ts'"),
      broken(`${DOMAIN}/grants/grant.ts`, importing('./store.ts')),
      broken(`${DOMAIN}/payments/payment.ts`, 'export async function move() {}'),
      {
        files: {
          'server/src/values/a.ts': importing('../lib/b.ts'),
          'server/src/lib/b.ts': importing('./c.ts'),
          'server/src/lib/c.ts': importing('node:net'),
        },
        at: ['server/src/values/a.ts:1'],
      },
    ],
    passes: [
      { 'server/src/values/ids.ts': importing('../lib/ids.ts'), 'server/src/lib/ids.ts': importing('node:crypto') },
      file(`${DOMAIN}/grants/policy.ts`, importing('./grant.ts')),
      file(`${DOMAIN}/grants/find-grant.ts`, importing('./store.ts')),
      file('server/src/chain/settlement.ts', "import type { Receipt } from './receipt.ts'"),
    ],
  },
  {
    rule: ENVIRONMENT,
    fails: [
      broken('server/src/main.ts', 'start(process.env)'),
      broken('server/src/main.ts', 'start({ ...process.env })'),
      broken('sandbox/src/main.ts', "start(process['env'])"),
      broken('sandbox/src/enclave/main.ts', 'const { a } = process?.env'),
    ],
    passes: [
      file('server/src/config.ts', 'process.env'),
      file('sandbox/src/start-server.ts', 'spawn(file, { env: { ...process.env, PORT: port } })'),
      file('server/src/main.ts', '// process.env\nlog("process.env")'),
      file('server/src/main.test.ts', 'process.env'),
      file('scripts/test.ts', 'process.env'),
    ],
  },
  {
    rule: NO_PROCESS_IMPORT,
    fails: [broken('server/src/main.ts', "import { env } from 'node:process'")],
    passes: [file('server/src/main.ts', "import { a } from 'node:path'")],
  },
  {
    rule: ONE_CLOCK,
    fails: [
      broken('server/src/api/me.ts', 'const now = Date.now()'),
      broken('server/src/api/me.ts', 'const now = new Date()'),
      broken('server/src/api/me.ts', 'const now = new Date'),
      broken('server/src/api/me.ts', 'const now = performance.now()'),
      broken('server/src/api/me.ts', 'const now = process.hrtime.bigint()'),
    ],
    passes: [
      file('server/src/lib/clock.ts', 'Date.now()'),
      file('server/src/api/me.ts', "new Date(text)\nnew Date('2026-01-01')\nlet a: Date"),
      file('server/src/api/me.test.ts', 'Date.now()'),
      file('sandbox/src/main.ts', 'Date.now()'),
    ],
  },
  {
    rule: NO_MATH_RANDOM,
    fails: [broken('server/src/lib/ids.ts', 'Math.random()'), broken('sandbox/src/main.ts', 'Math.random()')],
    passes: [file('server/src/lib/ids.ts', 'randomBytes(16)'), file('bench/payments.ts', 'Math.random()')],
  },
  {
    rule: NO_FLOATS,
    fails: [
      broken(`${DOMAIN}/grants/policy.ts`, 'const a = parseFloat(text)'),
      broken(`${DOMAIN}/grants/policy.ts`, 'const a = Number(request.amountMicro)'),
      broken(`${DOMAIN}/payments/store.ts`, 'const a = Number(row.spent)'),
      broken('server/src/values/money.ts', 'const a = Number.parseFloat(text)'),
    ],
    passes: [
      file(`${DOMAIN}/payments/store.ts`, 'Number(row.count)'),
      file('server/src/lib/retry.ts', 'parseFloat(x)'),
    ],
  },
  {
    rule: NO_NUMBERS,
    fails: [broken('server/src/values/money.ts', 'const a = Number(x)')],
    passes: [file('server/src/values/money.ts', 'BigInt(x)')],
  },
  {
    rule: SQL_IN_STORES,
    fails: [
      broken(`${DOMAIN}/grants/find-grant.ts`, '`select * from grants where id = ${id}`'),
      broken('server/src/api/me.ts', "'insert into agents (id) values ($1)'"),
      broken('server/src/api/me.ts', "'update agents set id = $1'"),
      broken('server/src/api/me.ts', "'delete from agents where id = $1'"),
      broken('server/src/api/me.ts', '`\n  with spent as (select 1) select * from spent`'),
      broken('server/src/api/me.ts', "'begin'"),
    ],
    passes: [
      file(`${DOMAIN}/grants/store.ts`, "'select * from grants'"),
      file('server/src/db/transaction.ts', "'begin'"),
      file('server/src/api/me.ts', "'Select a wallet'\n'begin again'\n'update available'\n'with care'"),
      file('server/src/api/me.test.ts', "'select * from grants'"),
    ],
  },
  {
    rule: SQL_WITHOUT_CLOCK,
    fails: [
      broken(`${DOMAIN}/grants/store.ts`, "'select * from grants where expires_at > now()'"),
      broken('server/src/db/migrate.ts', "'insert into migrations values (current_timestamp)'"),
      broken('server/migrations/0001_core.sql', 'create table a (at timestamptz default now());'),
    ],
    passes: [
      file('server/src/db/inspect-database.ts', "'select clock_timestamp() as clock'"),
      file('server/migrations/0001_core.sql', '-- no now() here\ncreate table a (at timestamptz);'),
      file(`${DOMAIN}/grants/store.ts`, "// now()\n'select * from grants where expires_at > $1'\nclock.now()"),
    ],
  },
  {
    rule: OWN_TABLES,
    fails: [
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
        [`${DOMAIN}/grants/store.ts`]: "'with g as (select id from grants) select g.*, count(*) from g'",
        [`${DOMAIN}/grants/store.test.ts`]: "'select * from grants'",
      },
    ],
  },
  {
    rule: NO_BARRELS,
    fails: [
      { files: file('server/src/lib/index.ts', 'export const a = 1'), at: ['server/src/lib/index.ts:1'] },
      { files: file('sandbox/src/all.ts', "export { a } from './a.ts'\n"), at: ['sandbox/src/all.ts:1'] },
    ],
    passes: [file('server/src/lib/logger.ts', "export type { Logger } from 'pino'\nexport const a = 1")],
  },
  {
    rule: NO_EXPORT_ALL,
    fails: [
      broken('server/src/lib/a.ts', "export * from './b.ts'"),
      broken('test/a.ts', "export * as b from './b.ts'"),
    ],
    passes: [file('server/src/lib/a.ts', 'export const a = 2 * 3')],
  },
  {
    rule: NO_DEFAULT_EXPORTS,
    fails: [broken('server/src/lib/a.ts', 'export default 1'), broken('scripts/a.mjs', 'export { a as default }')],
    passes: [file('server/src/lib/a.ts', "import { default as b } from 'b'\nexport { a as b }")],
  },
  {
    rule: SMALL_FILES,
    fails: [{ files: file('server/src/lib/a.ts', 'a\n'.repeat(401)), at: ['server/src/lib/a.ts:401'] }],
    passes: [file('server/src/lib/a.ts', 'a\n'.repeat(400)), file('README.md', 'a\n'.repeat(500))],
  },
  {
    rule: NO_CYCLES,
    fails: [
      { files: { 'a.ts': importing('./b.ts'), 'b.ts': "import type { a } from './a.ts'" }, at: ['b.ts:1'] },
      { files: file('a.ts', importing('./a.ts')), at: ['a.ts:1'] },
      {
        files: { 'a.ts': importing('./b.ts'), 'b.ts': importing('./c.ts'), 'c.ts': `\n${importing('./b.ts')}` },
        at: ['c.ts:2'],
      },
    ],
    passes: [{ 'a.ts': importing('./b.ts') + '\n' + importing('./c.ts'), 'b.ts': importing('./c.ts'), 'c.ts': '' }],
  },
  {
    rule: NO_DEAD_FILES,
    fails: [
      {
        files: {
          'server/src/main.ts': '',
          'server/src/lib/a.ts': '',
          'server/src/lib/a.test.ts': importing('./a.ts'),
          'test/unused.ts': '',
        },
        at: ['server/src/lib/a.ts:1', 'test/unused.ts:1'],
      },
    ],
    passes: [
      { 'server/src/lib/a.ts': '' },
      {
        'sandbox/src/main.ts': "fork(new URL('./enclave/main.ts', import.meta.url))",
        'sandbox/src/enclave/main.ts': importing('./b.ts'),
        'sandbox/src/enclave/b.ts': '',
        'test/flow.test.ts': importing('./agent.ts'),
        'test/agent.ts': '',
      },
    ],
  },
  {
    rule: ACTOR_REQUIRED,
    fails: [
      broken(`${DOMAIN}/keys/revoke-key.ts`, '{ id, actor = OPERATOR }: { id: string }'),
      broken(`${DOMAIN}/keys/revoke-key.ts`, 'readonly actor?: Actor'),
      broken('sandbox/src/control/fund.ts', 'function fund(actor: Actor, other: string, actor = by) {}'),
    ],
    passes: [
      file(`${DOMAIN}/keys/revoke-key.ts`, 'const actor = { kind: "user" }\nif (actor === by) actor.id'),
      file(`${DOMAIN}/keys/revoke-key.test.ts`, 'function revoke(id: string, actor = OPERATOR) {}'),
    ],
  },
  {
    rule: NO_MACHINE_NAMES,
    fails: [
      broken('docs/a.md', ['see ', 'tmp', 'a'].join('/')),
      broken('README.md', ['cd ', 'work', 'main'].join('/')),
      broken('scripts/a.ts', ['', 'home', 'ann'].join('/')),
      broken('.ci/run', ['registry', 'npmjs', 'org'].join('.')),
    ],
    passes: [file('docs/a.md', 'POST /workspaces/{slug}/keys, a/tmp, network/'), file('a.ts', 'join(tmpdir(), name)')],
  },
]
