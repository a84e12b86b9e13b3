import type { AuthorizationKey } from '../../../chain/authorization-event.ts'
import type { AuthorizationState, TimedAuthorization } from '../../../chain/authorization-reader.ts'
import type { Chain, ReceiptsAtHead } from '../../../chain/open-chain.ts'
import type { FoundAuthorization, LogSearch } from '../../../chain/search-reader.ts'
import type { Payment } from '../payment.ts'
import type { AuthorizationEvidence } from './decide-authorization.ts'

/**
 * Purchases are searched for together only if their next blocks are at most this far apart. Otherwise one purchase that
 * was not looked at for long would make the search for all others as long as its own.
 */
const NEXT_BLOCKS_APART_MAX = 100n
/**
 * The search ends this many blocks after the purchase's first block. An authorization is valid for five minutes at
 * most, so its use cannot be later, even on a chain with 16 blocks per second.
 */
const SEARCHED_BLOCKS_MAX = 5_000n
/**
 * The newest blocks are searched again at the next look-up, because a reorganization may change them, and a machine
 * that lags may have left out their logs.
 */
const SEARCHED_AGAIN_BLOCKS = 16n
/** How many authorizations one filter names. Nodes reject filters with many more. */
const AUTHORIZATIONS_PER_SEARCH_MAX = 100

interface Wanted {
  readonly payment: Payment
  readonly authorization: TimedAuthorization
  /** The block at which this look-up's search begins. */
  readonly next: bigint
}

/** What a look-up shows about a purchase, and the last block that the next look-up need not search again. */
export type AuthorizationLookup = AuthorizationEvidence & Pick<Payment, 'searchedBlock'>

/**
 * Reads what the chain shows about pending purchases, by the id of the payment. The logs only say which transactions to
 * read, so an empty list of logs proves nothing. The receipts prove that an authorization was used. The states prove
 * that it was not used, and are read only if the time of the newest block that was searched is `validBefore` or later.
 * Each look-up continues where the last one stopped. @throws ChainUnavailable
 */
export async function readEvidence(
  chain: Chain,
  payments: readonly Payment[],
): Promise<ReadonlyMap<string, AuthorizationLookup>> {
  const head = await chain.readHead()
  const lookups = new Map<string, AuthorizationLookup>()
  for (const group of groupByNextBlock(payments.flatMap((payment) => toWanted(payment, head)))) {
    for (const [id, lookup] of await readGroup(chain, group, head)) lookups.set(id, lookup)
  }
  return lookups
}

async function readGroup(
  chain: Chain,
  group: readonly Wanted[],
  head: bigint,
): Promise<(readonly [string, AuthorizationLookup])[]> {
  const search = await findEndings(chain, group, head)
  const hashes = [...new Set(search.found.map(({ txHash }) => txHash))]
  const none: ReceiptsAtHead = { receipts: new Map(), head }
  const reading = hashes.length === 0 ? none : await chain.readReceiptsAtHead(hashes)
  const endingsOf = ({ authorization }: Wanted) =>
    search.found
      .filter((found) => isSame(found, authorization))
      .map(({ txHash }) => ({ txHash, receipt: reading.receipts.get(txHash) ?? null }))
  const unseen = group.filter((wanted) => endingsOf(wanted).every(({ receipt }) => receipt === null))
  const states = await readStates(chain, unseen, search.searchedToSeconds)
  return group.map((wanted) => {
    const evidence = { endings: endingsOf(wanted), head: reading.head, state: states.get(wanted) ?? 'open' }
    return [wanted.payment.id, { ...evidence, searchedBlock: lastSearched(wanted.payment, evidence, { search, head }) }]
  })
}

/**
 * Returns the last block that the next look-up need not search again. If the authorization has ended and no log of it
 * was found, all blocks are searched again. If one was found, it must be found again until the purchase ends.
 */
function lastSearched(
  { searchedBlock }: Payment,
  { endings, state }: AuthorizationEvidence,
  { search, head }: { search: LogSearch<unknown>; head: bigint },
): bigint | null {
  if (endings.length > 0) return searchedBlock
  if (state === 'ended') return null
  const searched = min([search.searchedTo, head - SEARCHED_AGAIN_BLOCKS])
  return searchedBlock === null || searched > searchedBlock ? searched : searchedBlock
}

async function findEndings(
  chain: Chain,
  group: readonly Wanted[],
  head: bigint,
): Promise<LogSearch<FoundAuthorization>> {
  const last = max(group.map(({ payment, next }) => payment.firstBlock ?? next)) + SEARCHED_BLOCKS_MAX
  const to = min([last, head])
  const from = min([...group.map(({ next }) => next), last])
  // The node that reported the head may be behind the one that we asked when the purchase was recorded.
  if (from > to) return { found: [], searchedTo: from - 1n, searchedToSeconds: null }
  return await chain.findAuthorizations(
    group.map(({ authorization }) => authorization),
    { from, to },
  )
}

/** Reads the states of those authorizations that are not valid any more at the newest block that was searched. */
async function readStates(
  chain: Chain,
  unseen: readonly Wanted[],
  seconds: bigint | null,
): Promise<ReadonlyMap<Wanted, AuthorizationState>> {
  const late = unseen.filter(({ authorization }) => seconds !== null && authorization.validBeforeSeconds <= seconds)
  if (late.length === 0) return new Map()
  const states = await chain.readAuthorizationStates(late.map(({ authorization }) => authorization))
  return new Map(late.map((wanted, index) => [wanted, states[index] ?? 'open']))
}

function toWanted(payment: Payment, head: bigint): Wanted[] {
  const { authorization, walletAddress: authorizer } = payment
  if (authorization === null) return []
  const validBeforeSeconds = BigInt(Math.ceil(authorization.validBefore.getTime() / 1_000))
  const next = nextBlockOf(payment, head)
  return [{ payment, next, authorization: { authorizer, nonce: authorization.nonce, validBeforeSeconds } }]
}

function groupByNextBlock(wanted: readonly Wanted[]): Wanted[][] {
  const groups: Wanted[][] = []
  for (const one of wanted.toSorted((a, b) => (a.next < b.next ? -1 : 1))) {
    const group = groups.at(-1)
    const [oldest] = group ?? []
    const isNear = oldest !== undefined && one.next - oldest.next <= NEXT_BLOCKS_APART_MAX
    if (group !== undefined && isNear && group.length < AUTHORIZATIONS_PER_SEARCH_MAX) group.push(one)
    else groups.push([one])
  }
  return groups
}

/**
 * Returns the block at which the search for a purchase begins: the first block that no look-up has searched. At first,
 * that is the block that was recorded with the purchase. If none was recorded, the search begins at the newest block.
 */
function nextBlockOf({ firstBlock, searchedBlock }: Payment, head: bigint): bigint {
  return searchedBlock === null ? (firstBlock ?? head) : max([firstBlock ?? 0n, searchedBlock + 1n])
}

function isSame(a: AuthorizationKey, b: AuthorizationKey): boolean {
  return a.authorizer === b.authorizer && a.nonce === b.nonce
}

function min(values: readonly bigint[]): bigint {
  return values.reduce((least, value) => (value < least ? value : least))
}

function max(values: readonly bigint[]): bigint {
  return values.reduce((most, value) => (value > most ? value : most))
}
