import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findAgents, listSpendableGrants, listSpendablePage } from '../../server/src/domain/agents/agents-store.ts'
import { countTokenRequests } from '../../server/src/domain/connections/access-tokens-store.ts'
import { findClientsAndCount } from '../../server/src/domain/connections/requests-store.ts'
import { findPresented } from '../../server/src/domain/connection-errors/connection-errors-store.ts'
import { listDepositRows } from '../../server/src/domain/deposits/deposits-store.ts'
import { countKeyRequests } from '../../server/src/domain/keys/keys-store.ts'
import {
  countCandidates,
  listCandidates,
  listPaidAddresses,
} from '../../server/src/domain/reports/listing/candidates-store.ts'
import {
  countPaymentRows,
  listNewestPayments,
  listPaymentRows,
} from '../../server/src/domain/reports/listing/listing-store.ts'
import { PAYMENT_SORTS } from '../../server/src/domain/reports/listing/payment-order.ts'
import { listRepeatedRefusals, listUnsignedGrants } from '../../server/src/domain/reports/conditions/facts-store.ts'
import { listActiveGrants, listWalletBalances } from '../../server/src/domain/reports/funds/funds-store.ts'
import { findSteps } from '../../server/src/domain/reports/overview/overview-store.ts'
import { sumAgentRecipients } from '../../server/src/domain/reports/spending/agent-recipients-store.ts'
import { countRefusals, sumSpending } from '../../server/src/domain/reports/spending/spending-store.ts'
import { deleteSumsSince, listSumProgress, sumHour } from '../../server/src/domain/hourly-sums/hourly-sums-store.ts'
import {
  listLedgerDepositsOfAgent,
  listLedgerPayments,
  listLedgerWithdrawals,
} from '../../server/src/domain/reports/ledger/ledger-store.ts'
import {
  listConfirmedMovements,
  listDepositMovements,
  listFailedMovements,
} from '../../server/src/domain/reports/statements/movements-store.ts'
import { sumMovements } from '../../server/src/domain/reports/statements/statements-store.ts'
import { findWalletRow, listWalletRows } from '../../server/src/domain/reports/wallets/wallet-budgets-store.ts'
import { countUndelivered } from '../../server/src/domain/purchases/purchase-sums-store.ts'
import { listRefusalRows } from '../../server/src/domain/refusals/refusal-list-store.ts'
import { suspendGrantsOf } from '../../server/src/domain/grants/stopped-grants-store.ts'
import { countStoppable, countUnderWay } from '../../server/src/domain/stops/stops-store.ts'
import { insertWalletPasskey } from '../../server/src/domain/wallets/wallet-passkeys-store.ts'
import { insertWallet } from '../../server/src/domain/wallets/wallets-store.ts'
import { insertReplays, listDeliveryRows } from '../../server/src/domain/webhooks/deliveries-store.ts'
import { countAttempt } from '../../server/src/limiter/limiter-store.ts'
import type { Query } from '../../server/src/db/query.ts'
import { ZERO_ADDRESS } from '../../server/src/values/address.ts'
import { microUsdc } from '../../server/src/values/money.ts'
import { MODES } from '../../server/src/values/mode.ts'

const SERVER = fileURLToPath(new URL('../../server/src/', import.meta.url))
const STORES = ['**/store.ts', '**/*-store.ts', 'db/leases.ts']
/**
 * Matches the name of a statement in a store's source. The name is a plain string, a template with an expression, or an
 * argument of `textOfMode`.
 */
const NAME_PATTERN = /\bname: '(\w+)'|\bname: `([^`]+)`|\btextOfMode\(\s*'(\w+)'/g
/**
 * The number of arguments with which each function of a store is called. No function has more parameters. Each argument
 * is a stand-in (see `makeStandIn`).
 */
const ARGUMENTS = 6

const NOW = new Date('2026-01-01T00:00:00Z')
const HASH = Buffer.alloc(32)
const NO_CONDITIONS = {
  ...{ wallet: null, status: null, failureCode: null, kind: null, undeliveredAt: null },
  ...{ minMicro: microUsdc(0n), maxMicro: microUsdc(0n) },
  ...{ hexLike: null, textPattern: null, recipients: [], amountMicro: null },
}
const RANGE = { from: '', below: '', limit: 1 }
const MONTH = { fromBlock: 0n, toBlock: 1n, from: NOW, to: NOW }

/**
 * Statements that must be listed by hand. The text of some depends on their arguments, so each form of the text is
 * listed. Others have values that a stand-in cannot replace.
 */
const VARIANTS: readonly Query<unknown>[] = [
  countTokenRequests('default', [{ tokenHash: HASH, requiredScope: null, now: NOW }]),
  countKeyRequests('default', [{ secretHash: HASH, requiredScope: null, now: NOW }]),
  findAgents([{ workspaceId: '', mode: 'test', id: '', now: NOW }]),
  listSpendableGrants([{ workspaceId: '', mode: 'test', agentId: null, now: NOW }]),
  listSpendablePage({ workspaceId: '', mode: 'test', now: NOW }, null),
  countAttempt(HASH, 'sign_in', NOW),
  findClientsAndCount('token', [{ id: '', subject: HASH, now: NOW }]),
  ...(['code', 'refresh_token', 'access_token'] as const).map((kind) => findPresented(kind, HASH, NOW)),
  insertWallet({
    workspaceId: '',
    mode: 'test',
    address: ZERO_ADDRESS,
    name: '',
    enclaveWalletId: '',
    enclaveOwnersId: '',
    createdAt: NOW,
  }),
  insertWalletPasskey(
    { userId: '', credentialId: '', publicKeyCose: HASH, name: '', transports: [], createdAt: NOW },
    { attestationObject: '', clientDataJSON: '' },
  ),
  ...[null, ''].flatMap((agentId) => {
    const place = { workspaceId: '', mode: 'test', agentId, now: NOW } as const
    return [listWalletRows(place, { after: null, limit: 1 }), findWalletRow(place, ZERO_ADDRESS)]
  }),
  ...[
    { agentId: null, walletAddress: null },
    { agentId: '', walletAddress: null },
    { agentId: null, walletAddress: ZERO_ADDRESS },
  ].flatMap((scope) => {
    const place = { workspaceId: '', mode: 'test', ...scope } as const
    const stop = { stopId: '', now: NOW }
    return [suspendGrantsOf(place, stop), countStoppable(place, NOW), countUnderWay(place)]
  }),
  ...[null, ZERO_ADDRESS].map((wallet) =>
    listDepositRows({ workspaceId: '', mode: 'test', wallet, before: null, limit: 1 }),
  ),
  ...(['failed', 'all'] as const).map((only) =>
    insertReplays({ workspaceId: '', endpointId: '', ...RANGE, only, ids: [], now: NOW }),
  ),
  ...[
    { eventId: null, status: null },
    { eventId: null, status: 'failed' as const },
    { eventId: '', status: null },
  ].map((filter) => listDeliveryRows('', 'test', { endpointId: null, eventType: null, ...filter, ...RANGE }, 1)),
  ...MODES.flatMap((mode) => {
    const place = { workspaceId: '', mode, ...RANGE, scanRowsMax: 1 }
    const selection = { ...place, ...NO_CONDITIONS, agentId: null, recipient: null }
    const candidates = { recipients: [], minMicro: null, maxMicro: null, hashHead: null }
    const search = { candidates, candidatesMax: 1, after: null, limit: 1 }
    const range = { from: NOW, after: { createdAt: NOW, id: '' } }
    const ledgers = [null, ZERO_ADDRESS].map((wallet) => ({ workspaceId: '', mode, wallet, range, limit: 1 }))
    return [
      ...ledgers.flatMap((ledger) => [
        ...[null, ''].map((agentId) => listLedgerPayments({ ...ledger, agentId })),
        listLedgerDepositsOfAgent({ ...ledger, agentId: '' }),
        listLedgerWithdrawals(ledger),
      ]),
      ...PAYMENT_SORTS.flatMap((sort) =>
        [{}, { agentId: '' }, { recipient: ZERO_ADDRESS }].flatMap((only) => [
          listPaymentRows({ ...selection, ...only, sort, after: null }),
          countPaymentRows({ ...selection, ...only }, 1),
          listCandidates(selection, { ...search, sort }),
        ]),
      ),
      countCandidates(selection, search),
      listPaidAddresses(place, { head: '', limit: 1 }),
      listNewestPayments('', mode, 1),
      listRefusalRows({ ...selection, code: null, isGrouped: true, pageBelow: '' }),
      sumSpending({
        ...{ ...place, boundaries: [NOW], splitHours: [], unsummed: [], sumsFrom: NOW, by: 'agent', agentId: null },
        ...{ agentsMax: 1, rowsMax: 1, paymentsMax: 1 },
      }),
      sumAgentRecipients({
        ...{ ...place, agentId: '', boundaries: [NOW, NOW, NOW, NOW], paymentsMax: 1, rowsMax: 1 },
      }),
      sumMovements({ workspaceId: '', mode, wallet: ZERO_ADDRESS }, MONTH),
      ...[listConfirmedMovements, listFailedMovements, listDepositMovements].map((list) =>
        list({
          place: { workspaceId: '', mode, wallet: ZERO_ADDRESS },
          ...{ range: MONTH, after: { blockNumber: 0n, id: '' }, limit: 1 },
        }),
      ),
      listSumProgress({ mode, after: '', limit: 1, from: '', below: '' }),
      sumHour({ ...place, hour: NOW, keptSince: NOW }),
      deleteSumsSince({ workspaceId: '', mode, since: NOW }),
      countRefusals({ workspaceId: '', mode, agentId: null }, '', ''),
      listRepeatedRefusals({ workspaceId: '', mode }, { from: '', readMax: 1, timesMin: 1, limit: 1 }),
      listUnsignedGrants({ workspaceId: '', mode }, { userId: '', limit: 1, now: NOW }),
      listActiveGrants({ workspaceId: '', mode }, { windowStart: NOW, limit: 1 }),
      listWalletBalances({ workspaceId: '', mode }, { limit: 1, heldSince: NOW, overdueBefore: NOW, overdueMax: 1 }),
      findSteps('', mode),
      countUndelivered({ workspaceId: '', mode }, { from: '', rowsMax: 1, now: NOW }),
    ]
  }),
]

/** Lists every statement of the stores. */
export async function listStatements(): Promise<Query<unknown>[]> {
  const modules = await Promise.all(findStores().map(importAll))
  const made = modules.flatMap((module) => Object.values(module).flatMap(makeQueries))
  return [...made, ...VARIANTS]
}

/** Returns a pattern for the name of each statement in the stores' sources. */
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
 * Returns an exported query, or the queries that an exported function returns for stand-ins of its arguments. If the
 * function throws, the result is empty, and a test reports that the statement's name is missing.
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
 * Makes an argument for functions that only pass it on as a value of a statement. It has every property and method, and
 * can be used as a number. It throws if a function puts it into a text or uses it as a key. The statement of such a
 * function depends on its argument, so it is listed by hand.
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
