import { setTimeout } from 'node:timers/promises'
import { ChainUnavailable } from '../../chain/errors.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { Context } from '../context.ts'
import { BALANCES_READ_MAX } from './wallet.ts'

const READS_AT_ONCE_MAX = 10

interface BalanceRequest {
  readonly mode: Mode
  readonly addresses: readonly Address[]
  /** A balance can come from a cache, but is at most this old. By default one second. */
  readonly ageMsMax?: number
  /** After this time, the balances that were read by then are returned. By default, all reads are awaited. */
  readonly waitMsMax?: number
}

/**
 * Returns the USDC balances of the first 100 wallets. Wallets whose balance could not be read, or not in time, are left
 * out.
 *
 * Reads 10 balances at a time, and stops after a failure. So an unreachable chain costs one timeout and not one per
 * wallet.
 */
export async function readBalances(
  ctx: Pick<Context, 'chains' | 'balances' | 'logger'>,
  { waitMsMax, ...request }: BalanceRequest,
): Promise<ReadonlyMap<Address, MicroUsdc>> {
  const balances = new Map<Address, MicroUsdc>()
  if (waitMsMax === undefined) {
    await readInto(balances, ctx, request)
    return balances
  }
  const over = new AbortController()
  const reading = readInto(balances, ctx, { ...request, signal: over.signal })
  const timer = new AbortController()
  const isLate = setTimeout(waitMsMax, true, { signal: timer.signal })
  try {
    // `readInto` continues with its current reads, whose results the cache keeps, but starts no others.
    if ((await Promise.race([reading, isLate])) === true) over.abort()
  } finally {
    timer.abort()
  }
  if (over.signal.aborted) {
    reading.catch((error: unknown) => ctx.logger.error({ err: error }, 'balances could not be read'))
  }
  return new Map(balances)
}

/** Reads the balances into a map, until all are read, one could not be read, or the signal is aborted. */
async function readInto(
  balances: Map<Address, MicroUsdc>,
  ctx: Pick<Context, 'chains' | 'balances'>,
  { mode, addresses, ageMsMax, signal }: Omit<BalanceRequest, 'waitMsMax'> & { readonly signal?: AbortSignal },
): Promise<void> {
  const asked = addresses.slice(0, BALANCES_READ_MAX)
  for (let start = 0; start < asked.length; start += READS_AT_ONCE_MAX) {
    if (signal?.aborted === true) return
    const some = asked.slice(start, start + READS_AT_ONCE_MAX)
    const read = await Promise.all(some.map((address) => readBalance(ctx, mode, address, ageMsMax)))
    some.forEach((address, index) => {
      const balance = read[index] ?? null
      if (balance !== null) balances.set(address, balance)
    })
    if (read.includes(null)) return
  }
}

async function readBalance(
  { chains, balances }: Pick<Context, 'chains' | 'balances'>,
  mode: Mode,
  address: Address,
  ageMsMax?: number,
): Promise<MicroUsdc | null> {
  try {
    return (await balances.read(chains[mode], address, ageMsMax)).balanceMicro
  } catch (error) {
    if (error instanceof ChainUnavailable) return null
    throw error
  }
}
