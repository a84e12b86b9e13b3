import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { countTokenRequest } from '../../server/src/domain/connections/access-tokens-store.ts'
import { listDepositRows } from '../../server/src/domain/deposits/deposits-store.ts'
import { countKeyRequest } from '../../server/src/domain/keys/keys-store.ts'
import {
  countPaymentRows,
  listNewestPayments,
  listPaymentRows,
} from '../../server/src/domain/reports/listing/listing-store.ts'
import {
  countRefusals,
  findSteps,
  listFullestCaps,
  sumSpend,
} from '../../server/src/domain/reports/overview/overview-store.ts'
import { listRefusalRows } from '../../server/src/domain/payments/refusals/refusals-store.ts'
import { insertWallet } from '../../server/src/domain/wallets/wallets-store.ts'
import { insertReplays, listDeliveryRows } from '../../server/src/domain/webhooks/deliveries-store.ts'
import { countAttempt } from '../../server/src/limiter/limiter-store.ts'
import type { Query } from '../../server/src/db/query.ts'
import { ZERO_ADDRESS } from '../../server/src/values/address.ts'
import { MODES } from '../../server/src/values/mode.ts'

const SERVER = fileURLToPath(new URL('../../server/src/', import.meta.url))
const STORES = ['**/store.ts', '**/*-store.ts', 'db/leases.ts']
/**
 * A statement's name in the source of a store: as a plain string, as a template with an expression, or as an argument
 * of `textOfMode`.
 */
const NAME_PATTERN = /\bname: '(\w+)'|\bname: `([^`]+)`|\btextOfMode\(\s*'(\w+)'/g
/** More arguments than any function of a store has. */
const ARGUMENTS = 6

const NOW = new Date('2026-01-01T00:00:00Z')
const HASH = Buffer.alloc(32)
const RANGE = { from: '', below: '', limit: 1 }

/**
 * Statements whose text depends on their arguments, in every form, and statements whose values a stand-in can't
 * replace.
 */
const VARIANTS: readonly Query<unknown>[] = [
  countTokenRequest(HASH, { bucket: 'default', requiredScope: null, now: NOW }),
  countKeyRequest(HASH, 'default', NOW),
  countAttempt(HASH, 'sign_in', NOW),
  insertWallet({
    accountId: '',
    mode: 'test',
    address: ZERO_ADDRESS,
    name: '',
    enclaveWalletId: '',
    ownerQuorumId: '',
    owner: { credentialId: '', publicKeyCose: HASH },
    createdAt: NOW,
  }),
  ...[null, ZERO_ADDRESS].map((wallet) =>
    listDepositRows({ accountId: '', mode: 'test', wallet, before: null, limit: 1 }),
  ),
  ...(['failed', 'all'] as const).map((only) =>
    insertReplays({ accountId: '', endpointId: '', ...RANGE, only, ids: [], now: NOW }),
  ),
  ...[
    { eventId: null, status: null },
    { eventId: null, status: 'failed' as const },
    { eventId: '', status: null },
  ].map((filter) => listDeliveryRows('', 'test', { endpointId: null, eventType: null, ...filter, ...RANGE }, 1)),
  ...MODES.flatMap((mode) => {
    const place = { accountId: '', mode, ...RANGE, scanRowsMax: 1 }
    const selections = [null, ''].map((agentId) => ({
      ...place,
      agentId,
      wallet: null,
      status: null,
      txHash: null,
      address: null,
      memoPart: null,
    }))
    return [
      ...selections.flatMap((selection) => [listPaymentRows(selection), countPaymentRows(selection)]),
      listNewestPayments('', mode, 1),
      listRefusalRows({ ...place, agentId: null }),
      sumSpend({ ...place, barStarts: [], agentsMax: 1 }),
      countRefusals('', mode, '', ''),
      listFullestCaps({ ...place, now: NOW, windowStart: NOW }),
      findSteps('', mode),
    ]
  }),
]

/** Lists every statement of the stores. */
export async function listStatements(): Promise<Query<unknown>[]> {
  const modules = await Promise.all(findStores().map(importAll))
  const made = modules.flatMap((module) => Object.values(module).flatMap(makeQueries))
  return [...made, ...VARIANTS]
}

/** Returns a pattern for each statement's name, as the stores write it. */
export function listNames(): RegExp[] {
  return findStores()
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(NAME_PATTERN)])
    .map(([, name, template, ofMode]) => {
      const pattern = name ?? template?.replaceAll(/\$\{[^}]*\}/g, String.raw`\w+`) ?? `${ofMode}_(?:test|live)`
      return new RegExp(`^${pattern}$`)
    })
}

function findStores(): string[] {
  return globSync(STORES, { cwd: SERVER }).map((path) => `${SERVER}${path}`)
}

async function importAll(path: string): Promise<Record<string, unknown>> {
  return (await import(path)) as Record<string, unknown>
}

/**
 * Returns the queries that an export is, or that it makes from stand-ins. If it throws, its statement will be missing
 * among the names.
 */
function makeQueries(exported: unknown): Query<unknown>[] {
  if (typeof exported !== 'function') return isQuery(exported) ? [exported] : []
  try {
    const made: unknown = Reflect.apply(exported, undefined, Array.from({ length: ARGUMENTS }, makeStandIn))
    return [made].flat().filter(isQuery)
  } catch {
    return []
  }
}

function isQuery(value: unknown): value is Query<unknown> {
  if (typeof value !== 'object' || value === null) return false
  return 'name' in value && typeof value.name === 'string' && 'text' in value && 'read' in value
}

/**
 * Makes an argument for functions that only pass it on as a statement's value. It has every property and method, and
 * can be used as a number. It can't become part of a text or a key, because then the statement would depend on it.
 */
function makeStandIn(): unknown {
  const standIn: unknown = new Proxy(() => standIn, {
    get(_target, key) {
      if (key === Symbol.toPrimitive) return toPrimitive
      if (key === Symbol.iterator) return () => [].values()
      if (key === 'map') return () => []
      if (key === 'toJSON') return () => null
      return standIn
    },
  })
  return standIn
}

function toPrimitive(hint: string): number {
  if (hint === 'string') throw new Error('a statement depends on an argument: add it to VARIANTS')
  return 0
}
