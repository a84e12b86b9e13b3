import { ADDRESSES_PER_READ_MAX } from '../../chain/address-filters.ts'
import { ChainUnavailable } from '../../chain/errors.ts'
import type { SentTransfer } from '../../chain/search-reader.ts'
import type { Address } from '../../values/address.ts'
import { formatAmount } from '../../values/money.ts'
import { MODES, type Mode } from '../../values/mode.ts'
import type { Context, LedgerMemory } from '../context.ts'
import { listAddresses, lockWallet } from '../wallets/wallets-store.ts'
import type { UnexplainedTransfer } from './unexplained-transfer.ts'
import {
  findLedgerCursor,
  insertUnexplained,
  listUnexplained,
  moveLedgerCursor,
  type Unexplained,
} from './unexplained-transfers-store.ts'

/** At most this many blocks are compared at once. Base makes as many in half an hour. */
const BLOCKS_MAX = 1_000n
/** How many blocks before the cursor are compared again, because a reorganization may have changed them. */
const OVERLAP_BLOCKS = 16n
/** How many steps a process makes before it lets a payment wait for the next try. */
const STEPS_MAX = 20

type CompareContext = Pick<Context, 'db' | 'chains' | 'clock' | 'logger'>

/**
 * Compares the next blocks of the chain with the ledger. A USDC transfer out of one of our wallets that no payment
 * explains is stored, and reported to the operator at level error (D96). A new installation begins with the newest
 * block. Returns whether the comparison has reached the head of the chain.
 *
 * Transfers of zero are ignored: anyone can make one in the name of any wallet, and it moves nothing.
 * @throws ChainUnavailable
 */
export async function compareLedger(ctx: CompareContext, { mode }: { mode: Mode }): Promise<{ isCaughtUp: boolean }> {
  const head = await ctx.chains[mode].readHead()
  const cursor = await ctx.db.read(findLedgerCursor(mode))
  if (cursor === null) {
    await ctx.db.write(moveLedgerCursor(mode, head))
    return { isCaughtUp: true }
  }
  if (cursor >= head) return { isCaughtUp: true }
  const from = cursor > OVERLAP_BLOCKS ? cursor - OVERLAP_BLOCKS + 1n : 1n
  const to = cursor + BLOCKS_MAX < head ? cursor + BLOCKS_MAX : head
  const { sent, searchedTo } = await readSent(ctx, mode, { from, to })
  const unexplained = sent.length === 0 ? [] : await ctx.db.read(listUnexplained(mode, sent))
  const described = await describe(ctx, mode, { unexplained, sent })
  for (const ofWallet of Map.groupBy(described, ({ wallet }) => wallet).values()) await store(ctx, ofWallet, sent)
  await ctx.db.write(moveLedgerCursor(mode, searchedTo))
  return { isCaughtUp: searchedTo >= head }
}

/**
 * Stores those of one wallet's transfers that no payment explains. The transfers were found without a lock, and a
 * payment of one of them may have been reserved since: the first request with its key after a restore does that. So they
 * are compared again under the wallet's lock, which every reservation takes. Otherwise both would count.
 */
async function store(
  { db, logger }: CompareContext,
  found: readonly UnexplainedTransfer[],
  sent: readonly SentTransfer[],
): Promise<void> {
  const [first] = found
  if (first === undefined) return
  const { workspaceId, mode, wallet } = first
  const stored = await db.transaction(async (transaction) => {
    await transaction.run(lockWallet(workspaceId, mode, wallet))
    const still = await transaction.run(listUnexplained(mode, sent))
    const left = found.filter((one) => still.some((other) => isSame(one, other)))
    await transaction.commit(left.map(insertUnexplained))
    return left
  })
  for (const { to: payee, amountMicro, txHash } of stored) {
    logger.error(
      { mode, workspace: workspaceId, wallet, to: payee, amount_usdc: formatAmount(amountMicro), tx: txHash },
      'USDC left a wallet, and no payment explains it; if the database was restored, run "npm run after-restore"',
    )
  }
}

function isSame(one: Pick<Unexplained, 'txHash' | 'logIndex'>, other: Pick<Unexplained, 'txHash' | 'logIndex'>) {
  return one.txHash === other.txHash && one.logIndex === other.logIndex
}

/**
 * Compares the whole ledger with the chain once, before this process reserves its first payment of a mode. So a
 * database that was restored from a backup never reserves a payment before the transfers that it has forgotten count.
 * Later calls cost nothing. Throws `ChainUnavailable` while the comparison cannot be completed; the next call goes on.
 */
export async function ensureLedgerCompared(ctx: CompareContext & Pick<Context, 'ledger'>, mode: Mode): Promise<void> {
  const { compared } = ctx.ledger
  const started = compared.get(mode) ?? compareAll(ctx, mode)
  compared.set(mode, started)
  try {
    await started
  } catch (error) {
    if (compared.get(mode) === started) compared.delete(mode)
    throw error
  }
}

/**
 * Compares the ledgers again, because the database does not have the payment `missed` any more, which this process has
 * reserved: it was restored while the process went on. Until the comparison has ended, `missed` stays the newest
 * payment, so no request reserves a payment meanwhile. Requests that notice the same share the comparison.
 * @throws ChainUnavailable
 */
export async function compareAgain(
  ctx: CompareContext & Pick<Context, 'ledger'>,
  missed: LedgerMemory['newestPayment'],
): Promise<void> {
  const { ledger, logger } = ctx
  if (ledger.newestPayment !== missed) return
  if (ledger.missedPayment !== missed) {
    ledger.missedPayment = missed
    ledger.compared.clear()
    logger.error({ payment: missed?.id }, 'the database has lost a payment; run "npm run after-restore"')
  }
  await Promise.all(MODES.map((mode) => ensureLedgerCompared(ctx, mode)))
  if (ledger.newestPayment === missed) ledger.newestPayment = null
}

async function compareAll(ctx: CompareContext, mode: Mode): Promise<void> {
  for (let step = 0; step < STEPS_MAX; step += 1) {
    if ((await compareLedger(ctx, { mode })).isCaughtUp) return
  }
  throw new ChainUnavailable(`the ${mode} ledger is still being compared with its chain`)
}

/** Reads the transfers out of all wallets of the mode. If a search stops early, so do the others. */
async function readSent(
  ctx: CompareContext,
  mode: Mode,
  range: { from: bigint; to: bigint },
): Promise<{ sent: readonly SentTransfer[]; searchedTo: bigint }> {
  const sent: SentTransfer[] = []
  let searchedTo = range.to
  for (let last: Address | null = null; ;) {
    const wallets: Address[] = await ctx.db.read(listAddresses(mode, last, ADDRESSES_PER_READ_MAX))
    if (wallets.length > 0) {
      const search = await ctx.chains[mode].findSentTransfers(wallets, { from: range.from, to: searchedTo })
      sent.push(...search.found)
      searchedTo = search.searchedTo
    }
    last = wallets.at(-1) ?? null
    if (wallets.length < ADDRESSES_PER_READ_MAX) break
  }
  return { sent: sent.filter(({ blockNumber }) => blockNumber <= searchedTo), searchedTo }
}

async function describe(
  ctx: CompareContext,
  mode: Mode,
  { unexplained, sent }: { unexplained: readonly Unexplained[]; sent: readonly SentTransfer[] },
): Promise<UnexplainedTransfer[]> {
  const foundAt = ctx.clock.now()
  const times = new Map<bigint, Date>()
  const described: UnexplainedTransfer[] = []
  for (const { workspaceId, txHash, logIndex } of unexplained) {
    const transfer = sent.find((one) => isSame(one, { txHash, logIndex }))
    if (transfer === undefined) throw new Error('a transfer that was not read is unexplained')
    const { from: wallet, to, amountMicro, nonce, blockNumber } = transfer
    const minedAt = times.get(blockNumber) ?? toDate(await ctx.chains[mode].readBlockSeconds(blockNumber))
    times.set(blockNumber, minedAt)
    described.push({
      workspaceId,
      mode,
      txHash,
      logIndex,
      wallet,
      to,
      amountMicro,
      nonce,
      blockNumber,
      minedAt,
      foundAt,
    })
  }
  return described
}

function toDate(seconds: bigint): Date {
  return new Date(Number(seconds) * 1_000)
}
