import { Creators } from './creators.ts'
import { anyFree, FairPlaces, type FairPlacesOptions } from './fair-places.ts'
import { SharedBytes } from './shared-bytes.ts'

/** A caller who holds an own share or more is turned away at once. Only newcomers wait. */
const NEWCOMERS_WAIT = { waitingMax: 256, waitMsMax: 3_000, whoWaits: 'newcomers' } as const
const NOBODY_WAITS = { waitingMax: 0, waitMsMax: 0 } as const
/** Work that could keep its place for minutes ends after this time, if a newcomer finds no place. */
const TURN_MS = 60_000
const MIB = 1_024 * 1_024

/**
 * Everything that a process shares out between the people and networks that use it (D91). The specification has a table
 * of the same pools, which says for each how long work keeps its place, and what happens if all places are taken. Only
 * this file makes pools.
 */
export const POOLS = {
  /**
   * The requests that wait for nothing but the database. So many keep the process and its connections busy. More would
   * only wait in later queues. A process serves those that wait in about a tenth of a second; they wait longer only if
   * the database itself is slow.
   */
  databaseRequests: { placesMax: 128, waitingMax: 512, waitMsMax: 1_000 },
  /**
   * The requests that pay or buy. They wait for the enclave most of their time. A process already needs about a second
   * to serve this many.
   */
  payments: { placesMax: 512, ...NEWCOMERS_WAIT },
  /**
   * The payments that a process prepares, until they wait for the enclave. The others wait before anything is done for
   * them. If more were prepared at once, each turn of the event loop would take longer, and every request of the process
   * would wait for it.
   */
  submissions: { placesMax: 32, waitingMax: 512, waitMsMax: 3_000 },
  /** All other requests. They have a limit of their own, so that people can work while many payments wait. */
  otherRequests: { placesMax: 512, ...NEWCOMERS_WAIT },
  /** The requests without a credential that the process has accepted before. No known credential waits for them. */
  strangers: { placesMax: 512, ...NEWCOMERS_WAIT },
  /** The purchases in progress. Each may wait for its seller for minutes, with up to 1 MiB of the answer in memory. */
  purchases: { placesMax: 256, ...NEWCOMERS_WAIT },
  /** The requests that ask a seller for a price and pay nothing. */
  priceChecks: { placesMax: 256, ...NEWCOMERS_WAIT },
  /** The exports of payments. Each uses resources until its client has read the last page. */
  exports: { placesMax: 6, ...NOBODY_WAITS, turnMs: TURN_MS },
  /** The callers that wait for a payment. Each one keeps a connection open, and makes the poll take longer. */
  paymentWaits: { placesMax: 1_000, ...NOBODY_WAITS },
  /** The open pages. Each needs a connection, and makes the query that runs every second take longer. */
  changeStreams: { placesMax: 200, ...NOBODY_WAITS, turnMs: TURN_MS },
  /** The metadata documents of OAuth clients that are fetched. A newcomer waits a little longer than two fetches take. */
  clientDocuments: { placesMax: 64, waitingMax: 256, waitMsMax: 12_000, whoWaits: 'newcomers' },
  /**
   * The requests that create resources at the enclave. Payments use the same connections to the enclave, and a wallet
   * takes a hundred of these requests, of which at most 20 are open. So a hundred wallets can wait.
   */
  walletCreations: { placesMax: 10, waitingMax: 2_000, waitMsMax: null, share: anyFree },
  /**
   * The look-ups of transactions at the enclave; each keeps its place for a second. The provider publishes no limit.
   * This is far more than payments need, but few enough not to look like an attack.
   */
  lookUps: { placesMax: 40, waitingMax: 2_000, waitMsMax: null, share: anyFree },
  /** The reads that may take a long time. Each has a database connection, which is opened when it is needed. */
  longReads: { placesMax: 3, waitingMax: 100, waitMsMax: 3_000 },
  /**
   * The transactions, each with a database connection; the configuration says how many. A wait that is over has done
   * nothing, so its caller can simply try again. Outcomes are urgent: they record what has already happened elsewhere,
   * such as the enclave's response to a payment. They wait as long as a statement may take, and far more of them may
   * wait than a process works on, because an outcome that is not recorded has to be found out again later.
   */
  transactions: {
    placesMax: 0,
    waitingMax: 1_000,
    waitMsMax: 3_000,
    share: anyFree,
    urgent: { placesMax: 2, waitingMax: 10_000, waitMsMax: 8_000 },
  },
} as const satisfies Record<string, FairPlacesOptions>

/** The bytes that a process keeps for clients. Known credentials have so many, and strangers as many again. */
export const BYTES = {
  /** The bodies that have not arrived completely. */
  arrivingBodies: 16 * MIB,
  /** The responses that clients have not read. */
  unreadAnswers: 64 * MIB,
} as const

/**
 * The most attempts of the webhook sender at once. The numbers can be high, because an attempt mostly waits for the
 * receiver. The attempts are shared where they are claimed, in the database (decision 0019).
 */
export const SENDER_PLACES = {
  promptWebhooks: 400,
  hangingWebhooks: 200,
} as const

/** The bytes of one kind. */
export interface Budget {
  readonly known: SharedBytes
  readonly strangers: SharedBytes
}

export type PoolName = keyof typeof POOLS
type BytesName = keyof typeof BYTES
export type Pools = Readonly<Record<PoolName, FairPlaces> & Record<BytesName, Budget>> & { readonly creators: Creators }
type Changes = Readonly<Partial<Record<PoolName, Partial<FairPlacesOptions>> & Record<BytesName, number>>>

/** Opens the pools of a process. `changes` replaces some of their sizes. */
export function openPools(changes: Changes = {}): Pools {
  const creators = new Creators()
  const { holderOf } = creators
  const names = Object.keys(POOLS) as PoolName[]
  const pools = names.map((name) => [name, new FairPlaces({ ...POOLS[name], ...changes[name], holderOf })] as const)
  const openBudget = (name: BytesName): Budget => {
    const open = () => new SharedBytes(changes[name] ?? BYTES[name], holderOf)
    return { known: open(), strangers: open() }
  }
  return {
    creators,
    arrivingBodies: openBudget('arrivingBodies'),
    unreadAnswers: openBudget('unreadAnswers'),
    ...(Object.fromEntries(pools) as Record<PoolName, FairPlaces>),
  }
}
