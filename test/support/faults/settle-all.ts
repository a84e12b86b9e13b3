import { createHash } from 'node:crypto'
import { waitFor } from '../wait-for.ts'
import { listChainTransfers } from './chain-transfers.ts'
import type { FaultFixture } from './fault-fixture.ts'

/**
 * How far the clock moves in each round. It is longer than the time after which the service gives up a lost request,
 * and than the longest time between two look-ups of a payment (both are 10 minutes).
 */
const STEP_SECONDS = 11 * 60
const ROUNDS_MAX = 12
const LOOKS_MS_MAX = 120_000

/**
 * Moves the clock forward until a round of look-ups has changed nothing, and returns the number of rounds. A look-up
 * asks the enclave and the chain what happened to a payment. In each round, every pending payment is looked up.
 */
export async function settleAll(fixture: FaultFixture, onProgress: (line: string) => void = () => undefined) {
  let before = ''
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    await fixture.clock.advance(STEP_SECONDS)
    await waitFor('every pending payment has been looked at', async () => (await countDue(fixture)) === 0, LOOKS_MS_MAX)
    const after = await fingerprint(fixture)
    onProgress(`settling, round ${round}: ${after === before ? 'nothing changed' : 'something changed'}`)
    if (after === before) return round
    before = after
  }
  throw new Error(`payments still change after ${ROUNDS_MAX} rounds`)
}

/** Counts the pending payments that are due for a look-up. */
async function countDue({ database, clock }: FaultFixture): Promise<number> {
  const [row] = await database.query(
    `select count(*)::integer as due from payments where status = 'pending' and next_lookup_at <= $1`,
    [new Date(clock.toSandboxTime(Date.now()))],
  )
  return Number(row?.['due'])
}

async function fingerprint(fixture: FaultFixture): Promise<string> {
  const rows = await fixture.database.query(
    'select id, status, failure_code, pending_reason, tx_hash, log_index from payments order by id',
  )
  const transfers = await listChainTransfers(fixture)
  return createHash('sha256')
    .update(JSON.stringify([rows, transfers.length]))
    .digest('hex')
}
