import { ACTOR_REQUIRED } from './actors.ts'
import {
  ENVIRONMENT,
  NAMED_IMPORTS,
  NO_FLOATS,
  NO_MATH_RANDOM,
  NO_NUMBERS,
  NO_PROCESS_IMPORT,
  ONE_CLOCK,
} from './ambient.ts'
import { CITATION_SAMPLES } from './citation-samples.ts'
import { ENCLAVE_DOOR } from './door.ts'
import { ONE_WAY_OUT } from './egress.ts'
import { FLOORS } from './floors.ts'
import { NO_CYCLES, NO_DEAD_FILES } from './graph.ts'
import { ONE_LOG_QUERY } from './logs.ts'
import { NO_MACHINE_NAMES } from './machine.ts'
import { COUNTED_SIGNATURES } from './passkeys.ts'
import { ONE_LIST_OF_POOLS } from './pools.ts'
import { PURE_FILES } from './purity.ts'
import { NO_SINGLE_FILES, SMALL_FOLDERS } from './rooms.ts'
import { NO_BARRELS, NO_DEFAULT_EXPORTS, NO_EXPORT_ALL, NO_TWINS, SMALL_FILES } from './shape.ts'
import { NO_MODULE_STATE } from './state.ts'
import { ARRIVED_BODIES, BOUNDED_JSON, WHOLE_CHARACTERS } from './strangers.ts'
import { WORKSPACE_BORDERS } from './workspaces.ts'
import { broken, DOMAIN, file, importing, type Sample } from './sample.ts'
import { MIGRATION_SAMPLES } from './migration-samples.ts'
import { SQL_SAMPLES } from './sql-samples.ts'

const CONTRACT = 'server/src/console/contract/'

function importingType(path: string): string {
  return `import type { A } from '${path}'`
}

export const SAMPLES: readonly Sample[] = [
  {
    rule: FLOORS,
    fails: [
      broken('server/src/lib/retry.mts', importing('../values/money.ts')),
      broken('server/src/lib/retry.js', importing('../values/money.ts')),
      broken('server/src/lib/retry.ts', "import.meta.resolve('../values/money.ts')"),
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
      broken('dashboard/src/components/button.tsx', importing('../pages/home-page.tsx')),
      broken('dashboard/src/pages/grants/a.tsx', importing('../wallets/b.tsx')),
      broken('dashboard/src/pages/home-page.tsx', importing('./workspace/use-workspace.ts')),
      broken('sandbox/src/chain/start-chain.ts', importing('../postgres/start-postgres.ts')),
      { files: file('server/src/misc/a.ts', ''), at: ['server/src/misc/a.ts:1'] },
      { files: file('dashboard/src/misc/a.ts', ''), at: ['dashboard/src/misc/a.ts:1'] },
      { files: file('server/src/open-api.ts', ''), at: ['server/src/open-api.ts:1'] },
    ],
    passes: [
      file('server/src/service.ts', importing('./api/server.ts')),
      file('dashboard/src/pages/wallets/a.tsx', importing('../grants/b.tsx')),
      file('sandbox/src/control/open-control.ts', importing('../processes/seller.ts')),
      file('server/src/api/me.ts', importing('../domain/keys/authenticate-key.ts')),
      file(`${DOMAIN}/payment-requests/create-payment.ts`, importing('../grants/policy.ts')),
      file(`${DOMAIN}/events/record-event.ts`, importing('../context.ts')),
      file('server/src/limiter/store.ts', importing('../db/pool.ts')),
      file('server/src/chain/open-chain.test.ts', importing('../db/pool.ts')),
      file('server/src/lib/logger.ts', importing('pino')),
    ],
  },
  {
    rule: NO_MODULE_STATE,
    fails: [
      broken('server/src/lib/a.ts', 'let count = 0'),
      broken('server/src/lib/a.ts', 'const queues = new WeakMap<Database, Queue>()'),
      broken('server/src/lib/a.ts', 'export const queues = { slow: new WeakSet(), fast: null }'),
      broken('server/src/lib/a.ts', 'const known = new Map()\nexport function add() {\n  known.set(1, 2)\n}'),
      broken('server/src/lib/a.ts', 'const waiting: string[] = []\nexport function add() {\n  waiting.push(1)\n}'),
      broken('server/src/lib/a.ts', 'const state = { count: 0 }\nexport function add() {\n  state.count += 1\n}'),
      broken('server/src/lib/a.ts', 'const state = {\n  count: 0,\n}\nexport function add() {\n  state.count++\n}'),
    ],
    passes: [
      file('server/src/lib/a.ts', 'const CODES = new Set([1, 2])\nexport const has = (code) => CODES.has(code)'),
      file('server/src/lib/a.ts', 'export function open() {\n  const known = new Map()\n  known.set(1, 2)\n}'),
      file('server/src/lib/a.ts', 'export const open = () => new WeakMap()'),
      file('server/src/lib/a.ts', 'const LIMITS = { max: 1 }\nif (LIMITS.max === 1 || LIMITS.max >= 2) use(LIMITS)'),
      file('server/src/lib/a.test.ts', 'let count = 0'),
    ],
  },
  {
    rule: NAMED_IMPORTS,
    fails: [
      broken('server/src/lib/a.ts', 'await import(path)'),
      broken('server/src/lib/a.ts', 'await import(`./${name}.ts`)'),
      broken('server/src/lib/a.ts', "require('./b.ts')"),
      broken('server/src/lib/a.ts', 'const load = createRequire(import.meta.url)'),
    ],
    passes: [
      file('server/src/lib/a.ts', "await import('./b.ts')\nclient.require(1)"),
      file('server/src/lib/a.test.ts', 'await import(path)'),
    ],
  },
  {
    rule: WORKSPACE_BORDERS,
    fails: [
      broken('sandbox/src/chain/start-chain.ts', importing('@bursar/server/src/values/money.ts')),
      broken('sandbox/src/main.ts', importing('../../server/src/main.ts')),
      broken('server/src/main.ts', importing('../../sandbox/src/main.ts')),
      broken('dashboard/src/api/agents.ts', importing(`@bursar/${CONTRACT}agents.ts`)),
      broken('dashboard/src/api/agents.ts', importingType('@bursar/server/src/values/money.ts')),
      broken('dashboard/src/format/roles.ts', importingType('../../../server/src/console/authorize.ts')),
      broken('dashboard/src/format/roles.ts', importingType('@bursar/sandbox/src/main.ts')),
      {
        files: {
          'dashboard/src/format/roles.ts': importing('@bursar/server/src/values/money.ts'),
          'server/src/values/money.ts': importing('./text.ts'),
        },
        at: ['dashboard/src/format/roles.ts:1'],
      },
      broken('signer/src/describe.ts', importing('../../server/src/values/money.ts')),
      broken('cli/src/main.ts', importing('../../sdk/src/send.ts')),
      broken('cli/src/main.ts', importing('../../signer/src/passkeys.ts')),
      broken('sdk/src/send.ts', importing('../../server/src/values/money.ts')),
    ],
    passes: [
      file('sandbox/src/control/routes.ts', importing('@bursar/server/src/service.ts')),
      file('cli/src/commands/verify.ts', importing('../../../signer/src/evidence/verify-evidence.ts')),
      file('dashboard/src/api/agents.ts', importingType(`@bursar/${CONTRACT}agents.ts`)),
      {
        'dashboard/src/format/roles.ts': importing('@bursar/server/src/values/limits.ts'),
        'server/src/values/limits.ts': importingType('./text.ts'),
      },
      file('sandbox/src/start-server.ts', "new URL('../../server/src/main.ts', import.meta.url)"),
      file('server/src/db/pool.test.ts', importing('../../../sandbox/src/postgres/start-postgres.ts')),
    ],
  },
  {
    rule: ENCLAVE_DOOR,
    fails: [
      broken(`${DOMAIN}/grants/read-slot.ts`, importing('../../enclave/privy/terms.ts')),
      broken(`${DOMAIN}/wallets/wallet.ts`, 'const ownerQuorumId = 1'),
      broken('server/src/console/routes/grants.ts', '// the policy_id of the slot'),
      broken('server/src/enclave/enclave.ts', "const header = 'privy-app-id'"),
      broken('sandbox/src/control/owners.ts', 'const policyIds = []'),
    ],
    passes: [
      file('server/src/enclave/privy/terms.ts', 'const policyId = 1'),
      file('server/src/provider-check/main.ts', 'const quorum = 1'),
      file('server/src/values/problem.ts', "const code = 'privy_call_failed'"),
      file(`${DOMAIN}/wallets/wallets-store.ts`, "const column = 'owner_quorum_id'"),
      file(`${DOMAIN}/grants/grant.test.ts`, 'const policyId = 1'),
    ],
  },
  {
    rule: ONE_WAY_OUT,
    fails: [
      broken('server/src/chain/json-rpc.ts', "const answer = await fetch('https://a.example')"),
      broken('server/src/console/ask-faucet.ts', "import { request } from 'node:https'"),
    ],
    passes: [
      file('server/src/chain/json-rpc.ts', 'const answer = await endpoint.fetch(url)'),
      file(
        'server/src/doctor/check-enclave.ts',
        `${importing('../lib/outbound/bounded-fetch.ts')}\nconst answer = await fetch(url)`,
      ),
      file('server/src/lib/outbound/agents.ts', "import { Agent } from 'node:https'"),
    ],
  },
  {
    rule: PURE_FILES,
    fails: [
      broken(`${DOMAIN}/payment-requests/decide-admission.ts`, importing('./admission-store.ts')),
      broken(`${DOMAIN}/payment-requests/decide-admission.ts`, "import { randomInt } from 'node:crypto'"),
      broken(`${DOMAIN}/payments/fee.ts`, importing('./payments-store.ts')),
      broken('server/src/console/decide-layout.ts', importing('./open-page.ts')),
      broken('server/src/enclave/privy/send-outcome.ts', importing('./enclave-client.ts')),
      broken(`${DOMAIN}/grants/policy.ts`, "void fetch('x')"),
      broken(`${DOMAIN}/grants/policy.ts`, 'setTimeout(check, 1)'),
      broken(`${DOMAIN}/grants/policy.ts`, 'process.exit()'),
      broken('server/src/values/money.ts', importing('node:fs')),
      broken(`${DOMAIN}/grants/policy.ts`, "import type { Clock } from '../../lib/clock.ts'"),
      broken(`${DOMAIN}/grants/grant.ts`, importing('./store.ts')),
      broken(`${CONTRACT}agents.ts`, importing('../authorize.ts')),
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
      file(`${DOMAIN}/payment-requests/reserve-payments.ts`, importing('./admission-store.ts')),
      file(`${DOMAIN}/grants/queries.ts`, importing('./grants-store.ts')),
      file(`${DOMAIN}/passkeys/recovery-code.ts`, "import { randomBytes } from 'node:crypto'"),
      { 'server/src/values/ids.ts': importing('../lib/ids.ts'), 'server/src/lib/ids.ts': importing('node:crypto') },
      file(`${DOMAIN}/grants/policy.ts`, importing('./grant.ts')),
      file(`${DOMAIN}/grants/find-grant.ts`, importing('./store.ts')),
      file('server/src/chain/settlement.ts', "import type { Receipt } from './receipt.ts'"),
    ],
  },
  {
    rule: ENVIRONMENT,
    fails: [
      broken('server/src/main.ts', 'const { env } = process'),
      broken('server/src/main.ts', 'const alias = process'),
      broken('server/src/main.ts', 'process.loadEnvFile()'),
      broken('server/src/main.ts', 'import.meta.env'),
      broken('sandbox/src/main.ts', 'const { env } = process'),
      broken('server/src/main.ts', 'start(process.env)'),
      broken('server/src/main.ts', 'start({ ...process.env })'),
      broken('sandbox/src/main.ts', "start(process['env'])"),
      broken('sandbox/src/enclave/main.ts', 'const { a } = process?.env'),
    ],
    passes: [
      file('server/src/main.ts', "process.on('SIGTERM', stop)\nconst checks = { process: 1 }"),
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
      broken('server/src/lib/a.ts', "Date['now']()"),
      broken('server/src/lib/a.ts', 'const text = Date()'),
      broken('server/src/lib/a.ts', 'const { now } = Date'),
      broken('server/src/lib/a.ts', 'const { now } = performance'),
      broken('server/src/lib/a.ts', 'Temporal.Now.instant()'),
      broken('server/src/api/me.ts', 'const now = Date.now()'),
      broken('server/src/api/me.ts', 'const now = new Date()'),
      broken('server/src/api/me.ts', 'const now = new Date'),
      broken('server/src/api/me.ts', 'const now = performance.now()'),
      broken('server/src/api/me.ts', 'const now = process.hrtime.bigint()'),
    ],
    passes: [
      file('server/src/lib/a.ts', 'function last(times: readonly Date[]): Date {}\nnew Date(1)\ntoDate(1)'),
      file('server/src/lib/clock.ts', 'Date.now()'),
      file('server/src/api/me.ts', "new Date(text)\nnew Date('2026-01-01')\nlet a: Date"),
      file('server/src/api/me.test.ts', 'Date.now()'),
      file('sandbox/src/main.ts', 'Date.now()'),
    ],
  },
  {
    rule: COUNTED_SIGNATURES,
    fails: [broken(`${DOMAIN}/sessions/sign-in.ts`, 'await verifyAuthenticationResponse({ response })')],
    passes: [file(`${DOMAIN}/passkeys/check-assertion.ts`, 'await verifyAuthenticationResponse({ response })')],
  },
  {
    rule: ARRIVED_BODIES,
    fails: [broken('sandbox/src/control/forms.ts', "http.addContentTypeParser(TYPE, { parseAs: 'string' }, parse)")],
    passes: [
      file('server/src/oauth/form.ts', 'http.addContentTypeParser(TYPE, async (request) => readArrivedBody(request))'),
    ],
  },
  {
    rule: ONE_LOG_QUERY,
    fails: [broken('server/src/chain/find-mints.ts', "batch([{ method: 'eth_getLogs', params: [] }])")],
    passes: [
      file('server/src/chain/log-query.ts', "batch([{ method: 'eth_getLogs', params: [] }])"),
      file('server/src/chain/find-mints.test.ts', "method === 'eth_getLogs'"),
    ],
  },
  {
    rule: ONE_LIST_OF_POOLS,
    fails: [
      broken('server/src/db/readers.ts', 'const places = new FairPlaces({ placesMax: 3 })'),
      broken('server/src/http/uploads.ts', 'const bytes = new SharedBytes(UPLOADS_BYTES_MAX)'),
    ],
    passes: [
      file('server/src/lib/pools.ts', 'new FairPlaces(options), new SharedBytes(BYTES_MAX)'),
      file('server/src/lib/fair-places.test.ts', 'new FairPlaces(options)'),
    ],
  },
  {
    rule: NO_MATH_RANDOM,
    fails: [
      broken('server/src/lib/ids.ts', "Math['random']()"),
      broken('server/src/lib/ids.ts', 'const { random } = Math'),
      broken('server/src/lib/ids.ts', 'Math.random()'),
      broken('sandbox/src/main.ts', 'Math.random()'),
    ],
    passes: [file('server/src/lib/ids.ts', 'randomBytes(16)'), file('bench/payments.ts', 'Math.random()')],
  },
  {
    rule: NO_FLOATS,
    fails: [
      broken(`${DOMAIN}/grants/policy.ts`, 'const a = Number(find(request).amountMicro)'),
      broken('server/src/api/parse-payment.ts', 'Number(body.amount_usdc)'),
      broken('server/src/chain/balances.ts', 'Number(balanceMicro)'),
      broken('server/src/lib/retry.ts', 'parseFloat(x)'),
      broken(`${DOMAIN}/grants/policy.ts`, 'const a = parseFloat(text)'),
      broken(`${DOMAIN}/grants/policy.ts`, 'const a = Number(request.amountMicro)'),
      broken(`${DOMAIN}/payments/store.ts`, 'const a = Number(row.spent)'),
      broken('server/src/values/money.ts', 'const a = Number.parseFloat(text)'),
    ],
    passes: [
      file('server/src/doctor/skew.ts', 'seconds.toFixed(1)'),
      file(`${DOMAIN}/payments/store.ts`, 'Number(row.count)'),
      file('bench/main.ts', 'x.toFixed(1)'),
    ],
  },
  {
    rule: NO_NUMBERS,
    fails: [
      broken('server/src/values/money.ts', 'const a = +text'),
      broken('server/src/values/money.ts', 'const a = Number(x)'),
    ],
    passes: [
      file('server/src/values/money.ts', 'const a = whole + part'),
      file('server/src/values/money.ts', 'BigInt(x)'),
    ],
  },
  ...MIGRATION_SAMPLES,
  ...SQL_SAMPLES,
  {
    rule: NO_BARRELS,
    fails: [
      {
        files: file('server/src/lib/all.ts', "import { a } from './a.ts'\nexport { a }\n"),
        at: ['server/src/lib/all.ts:1'],
      },
      {
        files: file('dashboard/src/fields/index.tsx', 'export const a = 1'),
        at: ['dashboard/src/fields/index.tsx:1'],
      },
      { files: file('server/src/lib/index.ts', 'export const a = 1'), at: ['server/src/lib/index.ts:1'] },
      { files: file('sandbox/src/all.ts', "export { a } from './a.ts'\n"), at: ['sandbox/src/all.ts:1'] },
    ],
    passes: [
      file('server/src/main.ts', "import './service.ts'"),
      file('server/src/lib/a.ts', 'const a = 1\nexport { a }'),
      file('server/src/lib/logger.ts', "export type { Logger } from 'pino'\nexport const a = 1"),
    ],
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
    fails: [
      broken('server/src/lib/a.ts', "export { default } from './b.ts'"),
      broken('dashboard/src/page.tsx', 'export default 1'),
      broken('server/src/lib/a.ts', 'export default 1'),
      broken('scripts/a.mjs', 'export { a as default }'),
    ],
    passes: [file('server/src/lib/a.ts', "import { default as b } from 'b'\nexport { a as b }")],
  },
  {
    rule: NO_TWINS,
    fails: [
      {
        files: {
          [`${DOMAIN}/grants/a.ts`]: 'export interface Search {}',
          [`${DOMAIN}/payments/b.ts`]: '\nexport type Search = string',
        },
        at: [`${DOMAIN}/payments/b.ts:2`],
      },
    ],
    passes: [
      {
        [`${DOMAIN}/grants/a.ts`]: 'export interface Grant {}',
        [`${CONTRACT}grants.ts`]: 'export type Grant = string',
        [`${DOMAIN}/payments/b.ts`]: 'interface Grant {}',
      },
    ],
  },
  {
    rule: SMALL_FILES,
    fails: [
      { files: file('scripts/a.cjs', 'a\n'.repeat(401)), at: ['scripts/a.cjs:401'] },
      { files: file('server/src/lib/a.ts', 'a\n'.repeat(401)), at: ['server/src/lib/a.ts:401'] },
    ],
    passes: [
      file('server/src/lib/a.ts', 'a\n'.repeat(400)),
      file('README.md', 'a\n'.repeat(500)),
      file('server/src/db/tables.ts', 'a\n'.repeat(500)),
    ],
  },
  {
    rule: SMALL_FOLDERS,
    fails: [{ files: folderOf(41), at: ['server/src/lib/a0.ts:1'] }],
    passes: [{ ...folderOf(40), 'server/src/lib/a.test.ts': 'a()' }],
  },
  {
    rule: WHOLE_CHARACTERS,
    fails: [
      broken('server/src/mcp/a.ts', 'text.slice(0, NAME_CHARS_MAX)'),
      broken('server/src/mcp/a.ts', 'text.slice(0, 2 * charsMax + CHARS)'),
      broken('cli/src/a.ts', 'Array.from(text).slice(0, CODE_POINTS_MAX)'),
      broken('dashboard/src/a.tsx', 'text.slice(0, 200)'),
      broken('sdk/src/a.ts', 'text.substring(0, end)'),
    ],
    passes: [
      file('server/src/lib/cut-text.ts', 'text.slice(0, 200)'),
      file('server/src/mcp/a.ts', 'cutText(text, NAME_CHARS_MAX)'),
      file('server/src/mcp/a.ts', 'list.slice(0, ITEMS_MAX)'),
      file('server/src/mcp/a.ts', 'secret.slice(0, -CHECK_CHARS)'),
      file('server/src/mcp/a.ts', 'time.toISOString().slice(0, 10)'),
      file('server/src/mcp/a.test.ts', 'text.slice(0, 200)'),
    ],
  },
  {
    rule: BOUNDED_JSON,
    fails: [
      broken('server/src/oauth/a.ts', 'JSON.parse(body)'),
      broken('server/src/oauth/a.ts', 'const { parse } = JSON'),
      broken('server/src/doctor/a.ts', 'await response.json()'),
    ],
    passes: [
      file('server/src/lib/parse-json.ts', 'JSON.parse(text)'),
      file('server/src/oauth/a.ts', 'parseJson(body)'),
      file('server/src/oauth/a.ts', 'JSON.stringify(body)'),
      file('server/src/oauth/a.test.ts', 'JSON.parse(body)'),
      file('sdk/src/a.ts', 'JSON.parse(body)'),
    ],
  },
  {
    rule: NO_SINGLE_FILES,
    fails: [
      {
        files: {
          'server/src/lib/a.ts': '',
          'server/src/lib/b.ts': '',
          'server/src/lib/deep/c.ts': '',
          'server/src/lib/deep/c.test.ts': '',
        },
        at: ['server/src/lib/deep/c.ts:1'],
      },
    ],
    passes: [{ 'server/src/lib/a.ts': '', 'server/src/lib/page.css': '', 'sandbox/src/passkey/a.ts': '' }],
  },
  {
    rule: NO_CYCLES,
    fails: [
      { files: { 'a.tsx': importing('./b.ts'), 'b.ts': importing('./a.tsx') }, at: ['b.ts:1'] },
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
      { files: { 'dashboard/src/main.tsx': '', 'dashboard/src/a.tsx': '' }, at: ['dashboard/src/a.tsx:1'] },
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
      broken(`${DOMAIN}/keys/revoke-key.ts`, 'function revokeKey({ id, actor = OPERATOR }: KeyReference) {}'),
      broken(`${DOMAIN}/keys/revoke-key.ts`, 'interface Request { readonly actor?: Actor }'),
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
      broken('docs/mark.svg', ['', 'home', 'ann'].join('/')),
      broken('docs/a.md', ['see ', 'tmp', 'a'].join('/')),
      broken('README.md', ['cd ', 'work', 'main'].join('/')),
      broken('scripts/a.ts', `'${['', 'home', 'ann'].join('/')}'`),
      broken('.ci/run', ['registry', 'npmjs', 'org'].join('.')),
    ],
    passes: [file('docs/a.md', 'POST /workspaces/{slug}/keys, a/tmp, network/'), file('a.ts', 'join(tmpdir(), name)')],
  },
  ...CITATION_SAMPLES,
]

function folderOf(files: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: files }, (_, index) => [`server/src/lib/a${index}.ts`, 'a()']))
}
