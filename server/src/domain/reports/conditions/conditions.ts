import { formatRounded } from '../../../values/money.ts'
import type { Mode } from '../../../values/mode.ts'
import { REFUSAL_REASONS } from '../../../values/refusal-reasons.ts'
import type { Address } from '../../../values/address.ts'
import type { WebhookEndpoint } from '../../webhooks/endpoint.ts'
import type { ActiveGrant, WalletFunds } from '../funds/funds.ts'

const REASONS: Readonly<Record<string, string | undefined>> = REFUSAL_REASONS
const MINUTE_MS = 60 * 1_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/**
 * A payment that is pending for longer than this needs a person's attention. After ten minutes, nothing sends it again
 * (decision 0012), and a chain that works has confirmed what it has by then.
 */
export const OVERDUE_AFTER_MS = 15 * MINUTE_MS
/** At most this many overdue payments of a wallet are counted. */
export const OVERDUE_COUNTED_MAX = 100
/** A grant is announced this long before it ends, so that an owner with the passkey has a week to sign the next one. */
const GRANT_ENDS_WITHIN_MS = 7 * DAY_MS
/** A grant that ended is shown this long, so that an owner has time to sign a new one. */
const GRANT_ENDED_SHOWN_MS = 7 * DAY_MS
/**
 * An endpoint is shown when it has failed for this long. The first three attempts of a delivery end within 21 minutes,
 * so a receiver that only restarts is not shown.
 */
const WEBHOOK_FAILING_FOR_MS = 30 * MINUTE_MS
/** Rejected requests count for this long. */
export const REFUSALS_REPEAT_WITHIN_MS = DAY_MS
/** This many equal refusals of one agent: one may be an experiment, but an agent that asks again needs a person. */
export const REFUSALS_REPEAT_MIN = 3
/** To find repeated refusals, at most this many are read, the newest first. */
export const REFUSALS_READ_MAX = 1_000
/** At most this many groups of repeated refusals are read. */
export const REFUSAL_GROUPS_MAX = 20
/** At most this many grants that wait for a signature are read. */
export const UNSIGNED_READ_MAX = 100
/** A purchase that was paid and not delivered is shown for this long after its request (D70a). */
export const UNDELIVERED_SHOWN_MS = 7 * DAY_MS
/** To count the purchases that were paid and not delivered, at most this many purchases without delivery are read. */
export const UNDELIVERED_READ_MAX = 10_000
/** A condition names at most this many things. The others are counted. */
export const ITEMS_SHOWN_MAX = 3

/** The refusals of one agent with the same code. */
export interface RepeatedRefusal {
  readonly agentId: string
  readonly code: string
  readonly times: number
}

/** A grant that waits for an owner's signature. */
export interface UnsignedGrant {
  readonly id: string
  readonly agentId: string
  readonly wallet: Address
  readonly walletName: string
  /** Whether the reader owns the wallet, and so can sign the grant. */
  readonly isMine: boolean
}

/** What the conditions are decided from: the state of a workspace in one mode, for one reader. */
export interface Facts {
  readonly now: Date
  readonly mode: Mode
  readonly wallets: readonly WalletFunds[]
  readonly grants: readonly ActiveGrant[]
  readonly unsigned: readonly UnsignedGrant[]
  readonly endpoints: readonly Pick<WebhookEndpoint, 'id' | 'url' | 'failingSince' | 'disabledAt' | 'disabledBecause'>[]
  readonly refusals: readonly RepeatedRefusal[]
  readonly undelivered: { readonly count: number; readonly since: Date }
}

/** One thing for which a condition holds. */
export interface ConditionItem {
  /** The wallet, agent, grant or endpoint. */
  readonly name: string
  /** Completes the name to a sentence. */
  readonly text: string
  /** A time that belongs to the text, such as when a grant ends. The reader sees it in their own time zone. */
  readonly at: Date | null
  /** Where it leads: the parts of a page's path in the workspace, and its filter. */
  readonly page: readonly string[]
  readonly filter: Readonly<Record<string, string>>
}

/**
 * `problem`: payments fail, or money may be lost. `warning`: this will happen if nobody acts. `task`: somebody waits for
 * the reader.
 */
export type Severity = 'problem' | 'warning' | 'task'

export const CONDITION_NAMES = [
  'grant_altered',
  'balance_used_up',
  'balance_below_limits',
  'payment_overdue',
  'purchase_undelivered',
  'refusals_repeat',
  'webhook_failing',
  'grant_ending',
  'grant_unsigned',
  'wallet_at_risk',
] as const
export type ConditionName = (typeof CONDITION_NAMES)[number]

/** Something about a workspace that a person should know. */
interface Condition {
  readonly name: ConditionName
  readonly severity: Severity
  readonly title: string
  /** What it means, and what to do. */
  readonly advice: string
  /** Where all of its items are listed. */
  readonly all: readonly string[]
  readonly find: (facts: Facts) => readonly ConditionItem[]
}

/** A condition that holds. */
export interface MetCondition {
  readonly name: ConditionName
  readonly severity: Severity
  readonly title: string
  readonly advice: string
  readonly items: readonly ConditionItem[]
  /** How many items are not named, and where they are listed. */
  readonly more: number
  readonly all: readonly string[]
}

/**
 * All conditions, the most urgent first. Each reads only the facts, so the overview and every other way to tell people
 * decide alike.
 */
const CONDITIONS: readonly Condition[] = [
  {
    name: 'grant_altered',
    severity: 'problem',
    title: 'Grants with other terms than signed',
    advice:
      'The terms stored here are not those that an owner signed. Stop the agent, and ask the operator of this service who changed them. The page of the grant shows which terms differ.',
    all: ['grants'],
    find: ({ grants }) =>
      grants
        .filter(({ differsSince }) => differsSince !== null)
        .map(({ id, agentId, differsSince }) => ({
          name: agentId,
          text: 'differs since',
          at: differsSince,
          page: ['grants', id],
          filter: {},
        })),
  },
  {
    name: 'balance_used_up',
    severity: 'problem',
    title: 'Balance almost used up',
    advice: 'The wallet is empty, or holds less than agents spent from it in the last 24 hours. Send USDC to it.',
    all: ['wallets'],
    find: ({ wallets }) =>
      wallets.filter(isUsedUp).map((wallet) => ({
        ...walletItem(wallet),
        text: `${formatRounded(wallet.availableMicro ?? 0n)} USDC available, ${formatRounded(wallet.spent24hMicro)} USDC spent in the last 24 hours`,
      })),
  },
  {
    name: 'balance_below_limits',
    severity: 'warning',
    title: 'Balance below the day’s limits',
    advice: 'Grants allow agents to spend more today than the wallet holds. Send USDC to it, or lower the limits.',
    all: ['wallets'],
    find: ({ wallets }) =>
      wallets
        .filter((wallet) => isBelowLimits(wallet) && !isUsedUp(wallet))
        .map((wallet) => ({
          ...walletItem(wallet),
          text: `${formatRounded(wallet.availableMicro ?? 0n)} USDC available, ${formatRounded(wallet.limitsLeftMicro)} USDC left of the 24-hour limits`,
        })),
  },
  {
    name: 'payment_overdue',
    severity: 'problem',
    title: 'Payments without an outcome',
    advice:
      'They have been pending for more than 15 minutes. Their amounts stay reserved until the chain shows what happened.',
    all: ['payments'],
    find: ({ wallets }) =>
      wallets
        .filter(({ overdue }) => overdue > 0)
        .map((wallet) => ({
          ...walletItem(wallet),
          page: ['payments'],
          filter: { status: 'pending', wallet: wallet.address },
          text: countOf(wallet.overdue, 'pending payment', OVERDUE_COUNTED_MAX),
        })),
  },
  {
    name: 'purchase_undelivered',
    severity: 'problem',
    title: 'Paid, not delivered',
    advice: 'The seller has the money, but the agent did not get what it bought. Contact the seller.',
    all: ['payments'],
    find: ({ undelivered: { count, since } }) =>
      count === 0
        ? []
        : [
            {
              name: countOf(count, 'purchase', UNDELIVERED_READ_MAX),
              text: 'in the last 7 days',
              at: null,
              page: ['payments'],
              filter: { kind: 'undelivered', from: since.toISOString() },
            },
          ],
  },
  {
    name: 'refusals_repeat',
    severity: 'warning',
    title: 'Rejected again and again',
    advice: 'The agent keeps asking for something that it may not do. Change its grant, or stop the agent.',
    all: ['payments'],
    find: ({ refusals }) =>
      refusals.map(({ agentId, code, times }) => ({
        name: agentId,
        text: `${countOf(times, 'request', REFUSALS_READ_MAX)} rejected in the last 24 hours: ${REASONS[code] ?? code.replaceAll('_', ' ')}`,
        at: null,
        page: ['payments'],
        filter: { status: 'refused', agent: agentId, reason: code },
      })),
  },
  {
    name: 'webhook_failing',
    severity: 'warning',
    title: 'Webhooks not delivered',
    advice: 'The endpoint does not accept events. After five days without a success, it is disabled.',
    all: ['developers', 'webhooks'],
    find: ({ endpoints, now }) =>
      endpoints
        .filter((endpoint) => isFailing(endpoint, now))
        .map(({ id, url, failingSince, disabledAt }) => ({
          name: url,
          text: disabledAt === null ? 'has failed since' : 'was disabled',
          at: disabledAt ?? failingSince,
          page: ['developers', 'webhooks', id],
          filter: {},
        })),
  },
  {
    name: 'grant_ending',
    severity: 'warning',
    title: 'Grants that end',
    advice: 'After its end date, the agent can’t pay. Replace the grant with one that ends later.',
    all: ['grants'],
    find: ({ grants, now }) =>
      grants
        .filter(({ expiresAt, suspendedAt }) => suspendedAt === null && expiresAt !== null && isNear(expiresAt, now))
        .toSorted((left, right) => (left.expiresAt?.getTime() ?? 0) - (right.expiresAt?.getTime() ?? 0))
        .map(({ id, agentId, expiresAt }) => ({
          name: agentId,
          text: expiresAt !== null && expiresAt <= now ? 'ended' : 'ends',
          at: expiresAt,
          page: ['grants', id],
          filter: {},
        })),
  },
  {
    name: 'grant_unsigned',
    severity: 'task',
    title: 'Waiting for a signature',
    advice: 'A grant is not in force until an owner of the wallet signs it.',
    all: ['grants'],
    find: ({ unsigned }) =>
      unsigned
        .toSorted((left, right) => Number(right.isMine) - Number(left.isMine))
        .map(({ id, agentId, walletName, isMine }) => ({
          name: agentId,
          text: isMine
            ? `from ${walletName}: you can sign it`
            : `from ${walletName}: an owner of the wallet must sign it`,
          at: null,
          page: ['grants', id],
          filter: {},
        })),
  },
  {
    name: 'wallet_at_risk',
    severity: 'warning',
    title: 'Wallets with a single passkey',
    advice: 'If the only passkey of a wallet is lost, its money is lost. Add a second passkey.',
    all: ['wallets'],
    // Test money may be lost.
    find: ({ wallets, mode }) =>
      mode === 'test'
        ? []
        : wallets
            .filter(({ owners }) => owners < 2)
            .map((wallet) => ({ ...walletItem(wallet), text: 'has one owner' })),
  },
]

/** Returns the conditions that hold, the most urgent first. */
export function checkConditions(facts: Facts): MetCondition[] {
  return CONDITIONS.flatMap(({ find, ...condition }) => {
    const items = find(facts)
    if (items.length === 0) return []
    return [{ ...condition, items: items.slice(0, ITEMS_SHOWN_MAX), more: Math.max(0, items.length - ITEMS_SHOWN_MAX) }]
  })
}

/** Whether a wallet from which agents spend has less than they spent in a day. */
function isUsedUp({ availableMicro, spent24hMicro, limitsLeftMicro }: WalletFunds): boolean {
  if (availableMicro === null) return false
  return availableMicro < spent24hMicro || (availableMicro === 0n && limitsLeftMicro > 0n)
}

function isBelowLimits({ availableMicro, limitsLeftMicro }: WalletFunds): boolean {
  return availableMicro !== null && availableMicro < limitsLeftMicro
}

function isFailing({ failingSince, disabledBecause }: Facts['endpoints'][number], now: Date): boolean {
  if (disabledBecause !== null) return disabledBecause !== 'owner'
  return failingSince !== null && now.getTime() - failingSince.getTime() >= WEBHOOK_FAILING_FOR_MS
}

function isNear(expiresAt: Date, now: Date): boolean {
  const leftMs = expiresAt.getTime() - now.getTime()
  return leftMs <= GRANT_ENDS_WITHIN_MS && leftMs > -GRANT_ENDED_SHOWN_MS
}

function walletItem({ name, address }: WalletFunds): Omit<ConditionItem, 'text'> {
  return { name, at: null, page: ['wallets', address], filter: {} }
}

function countOf(count: number, noun: string, max: number): string {
  return `${count >= max ? `at least ${max}` : count} ${noun}${count === 1 ? '' : 's'}`
}
