import type { Rule, Violation } from '../rule.ts'
import { roomOf } from '../room.ts'
import type { Module } from '../source-tree.ts'

const SERVER = 'server/src/'
const LOWER_FLOORS = ['lib', 'values', 'db', 'limiter', 'enclave', 'chain', 'x402'] as const

/**
 * The height of each room in `domain/`. A room may import only rooms with a smaller height, never one of the same
 * height.
 */
const DOMAIN_HEIGHTS: Readonly<Record<string, number>> = {
  'transparency-log': 0,
  events: 1,
  audit: 1,
  plans: 2,
  moves: 2,
  workspaces: 3,
  passkeys: 4,
  keys: 4,
  'stored-bytes': 4,
  'outbound-requests': 4,
  members: 5,
  sessions: 6,
  webhooks: 6,
  recipients: 6,
  'saved-views': 6,
  'connection-errors': 7,
  search: 7,
  'owner-signatures': 7,
  wallets: 8,
  connections: 8,
  owners: 9,
  grants: 10,
  refusals: 10,
  'unexplained-transfers': 10,
  months: 10,
  agents: 11,
  payments: 11,
  deposits: 11,
  'hourly-sums': 11,
  stops: 11,
  'payment-notes': 12,
  reconciliation: 13,
  'payment-requests': 13,
  withdrawals: 14,
  purchases: 14,
  'encryption-keys': 15,
  evidence: 15,
  reports: 15,
}

/**
 * The room of the files directly in `domain/`, such as `context.ts`, which every operation receives. It is below all
 * other rooms of `domain/`.
 */
const DOMAIN_GROUND = 'domain'
const DOMAIN_ROOMS = [DOMAIN_GROUND, ...Object.keys(DOMAIN_HEIGHTS).map((noun) => `domain/${noun}`)]
const DOOR = [...LOWER_FLOORS, ...DOMAIN_ROOMS, 'http']
const EVERYTHING = 'everything'

/** The same as the table "Floors" in ARCHITECTURE.md: each room, and the other rooms that it may import. */
const ROOMS: Readonly<Record<string, readonly string[] | typeof EVERYTHING>> = {
  'main.ts': ['service.ts', 'config.ts', 'lib'],
  'migrate.ts': ['config.ts', 'db', 'lib'],
  'invite.ts': [...DOOR, 'config.ts', 'service.ts'],
  'service.ts': EVERYTHING,
  api: DOOR,
  oauth: DOOR,
  console: DOOR,
  mcp: DOOR,
  jobs: DOOR,
  metrics: DOOR,
  traces: DOOR,
  doctor: [...DOOR, 'config.ts'],
  'provider-check': [...DOOR, 'config.ts'],
  'move-workspace': [...DOOR, 'config.ts'],
  'after-restore': [...DOOR, 'config.ts', 'service.ts'],
  'lost-key': [...DOOR, 'config.ts', 'service.ts'],
  ...Object.fromEntries(Object.keys(DOMAIN_HEIGHTS).map((noun) => [`domain/${noun}`, belowInDomain(noun)])),
  http: ['lib', 'values', 'db', 'enclave', 'chain'],
  [DOMAIN_GROUND]: LOWER_FLOORS,
  enclave: ['values', 'lib'],
  chain: ['values', 'lib'],
  x402: ['values', 'lib'],
  limiter: ['db', 'values', 'lib'],
  db: ['lib'],
  values: ['lib'],
  'config.ts': ['values', 'lib'],
  lib: [],
}

/**
 * The floors of the dashboard, the lowest first. A room may import all rooms on lower floors, but none on its own. The
 * folders of `pages/` are rooms of their own. `pages/workspace` has what all pages of a workspace share.
 */
const DASHBOARD_FLOORS = [
  ['signer'],
  ['api'],
  ['format', 'navigation'],
  ['components'],
  ['pages'],
  ['pages/workspace'],
  ['pages/spending'],
  ['pages/account', 'pages/developers', 'pages/recipients'],
  ['pages/payments'],
  ['pages/grants', 'pages/statements'],
  ['pages/wallets'],
  ['pages/agents'],
  ['pages/consent', 'pages/overview'],
  ['routes.tsx'],
  ['app.tsx'],
  ['main.tsx'],
]

/** The floors of the sandbox, the lowest first. */
const SANDBOX_FLOORS = [
  ['lib', 'addresses.ts', 'software-passkey.ts'],
  ['chain', 'postgres', 'state'],
  ['enclave', 'seller'],
  ['config.ts', 'processes'],
  ['control'],
  ['start-sandbox.ts'],
  ['throw-away-sandbox.ts', 'format-welcome.ts'],
  ['demo', 'main.ts', 'print-environment.ts', 'reset.ts'],
]

const WORKSPACES: Readonly<Record<string, typeof ROOMS>> = {
  [SERVER]: ROOMS,
  'dashboard/src/': listBelow(DASHBOARD_FLOORS),
  'sandbox/src/': listBelow(SANDBOX_FLOORS),
}

/** Every import between the rooms of a workspace must lead to a lower floor. Tests may import anything. */
export const FLOORS: Rule = {
  name: 'every import of the server, the dashboard and the sandbox runs down the floors, and entry points never import each other',
  check: (tree) =>
    Object.entries(WORKSPACES).flatMap(([root, rooms]) =>
      tree.modules
        .filter((module) => module.path.startsWith(root) && !module.isTest)
        .flatMap((module) => checkModule(module, { root, rooms })),
    ),
}

function listBelow(floors: readonly (readonly string[])[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    floors.flatMap((rooms, floor) => rooms.map((room) => [room, floors.slice(0, floor).flat()])),
  )
}

function belowInDomain(noun: string): string[] {
  const height = DOMAIN_HEIGHTS[noun] ?? 0
  const below = Object.entries(DOMAIN_HEIGHTS).filter(([, other]) => other < height)
  return [...LOWER_FLOORS, DOMAIN_GROUND, ...below.map(([lower]) => `domain/${lower}`)]
}

function checkModule(
  module: Module,
  { root, rooms }: { readonly root: string; readonly rooms: typeof ROOMS },
): Violation[] {
  const room = roomOf(module.path)
  const allowed = rooms[room]
  if (allowed === undefined) {
    const message = `the room \`${room}\` is on no floor: move the file into a room of test/house/rules/floors.ts, or add the room there (a room of the server also to ARCHITECTURE.md)`
    return [{ path: module.path, line: 1, message }]
  }
  if (allowed === EVERYTHING) return []
  return module.imports.flatMap(({ target, line, kind }) => {
    if (target === null || !target.startsWith(root)) return []
    // The sandbox names the programs that it starts.
    if (kind === 'url' && target.endsWith('/main.ts')) return []
    const other = roomOf(target)
    if (other === room || allowed.includes(other)) return []
    const message = `\`${room}\` may not import \`${other}\` (${target}): move what both need to a lower floor, or let a higher file hand it over`
    return [{ path: module.path, line, message }]
  })
}
