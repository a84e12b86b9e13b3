import type { AuthorizationKey } from '../../chain/authorization-event.ts'
import type { AuthorizationState, TimedAuthorization } from '../../chain/authorization-reader.ts'
import type { Chain, ReceiptsAtHead } from '../../chain/open-chain.ts'
import type { FoundAuthorization, Search } from '../../chain/search-reader.ts'
import type { Payment } from '../payments/payment.ts'
import type { AuthorizationEvidence } from './decide-authorization.ts'

/**
 * Purchases are searched for together only if their first blocks are at most this far apart. Otherwise one old purchase
 * would make the search for all others as long as its own.
 */
const FIRST_BLOCKS_APART_MAX = 100n
/**
 * The search ends this many blocks after the purchase's first block. An authorization is valid for five minutes at
 * most, so its use cannot be later, even on a chain with 16 blocks per second.
 */
const SEARCHED_BLOCKS_MAX = 5_000n
/** How many authorizations one filter names. Nodes reject filters with many more. */
const AUTHORIZATIONS_PER_SEARCH_MAX = 100

interface Wanted {
  readonly payment: Payment
  readonly authorization: TimedAuthorization
}

/**
 * Reads what the chain shows about pending purchases, by the id of the payment. The logs only say which transactions to
 * look at. The receipts prove that an authorization was used. The states prove that it was not used, and are read only
 * if the time of the newest block that was searched is `validBefore` or later. @throws ChainUnavailable
 */
export async function readEvidence(
  chain: Chain,
  payments: readonly Payment[],
): Promise<ReadonlyMap<string, AuthorizationEvidence>> {
  const head = await chain.readHead()
  const evidence = new Map<string, AuthorizationEvidence>()
  for (const group of groupByFirstBlock(payments.flatMap(toWanted), head)) {
    for (const [id, one] of await readGroup(chain, group, head)) evidence.set(id, one)
  }
  return evidence
}

async function readGroup(
  chain: Chain,
  group: readonly Wanted[],
  head: bigint,
): Promise<(readonly [string, AuthorizationEvidence])[]> {
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
  return group.map((wanted) => [
    wanted.payment.id,
    { endings: endingsOf(wanted), head: reading.head, state: states.get(wanted) ?? 'open' },
  ])
}

async function findEndings(chain: Chain, group: readonly Wanted[], head: bigint): Promise<Search<FoundAuthorization>> {
  const firsts = group.map(({ payment }) => firstBlockOf(payment, head))
  const [from, last] = [min(firsts), max(firsts) + SEARCHED_BLOCKS_MAX]
  const range = { from, to: last < head ? last : head }
  // The node that reported the head may be behind the one that we asked when the purchase was recorded.
  if (range.from > range.to) return { found: [], searchedTo: from - 1n, searchedToSeconds: null }
  return await chain.findAuthorizations(
    group.map(({ authorization }) => authorization),
    range,
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

function toWanted(payment: Payment): Wanted[] {
  const { authorization, walletAddress: authorizer } = payment
  if (authorization === null) return []
  const validBeforeSeconds = BigInt(Math.ceil(authorization.validBefore.getTime() / 1_000))
  return [{ payment, authorization: { authorizer, nonce: authorization.nonce, validBeforeSeconds } }]
}

function groupByFirstBlock(wanted: readonly Wanted[], head: bigint): Wanted[][] {
  const groups: Wanted[][] = []
  const firstOf = ({ payment }: Wanted): bigint => firstBlockOf(payment, head)
  for (const one of wanted.toSorted((a, b) => (firstOf(a) < firstOf(b) ? -1 : 1))) {
    const group = groups.at(-1)
    const [oldest] = group ?? []
    const isNear = oldest !== undefined && firstOf(one) - firstOf(oldest) <= FIRST_BLOCKS_APART_MAX
    if (group !== undefined && isNear && group.length < AUTHORIZATIONS_PER_SEARCH_MAX) group.push(one)
    else groups.push([one])
  }
  return groups
}

/**
 * Returns the block at which the search begins, which was recorded with the purchase. If none was recorded, the search
 * begins at the newest block.
 */
function firstBlockOf({ firstBlock }: Payment, head: bigint): bigint {
  return firstBlock ?? head
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
