import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'
import { markManyAccepted, type Acceptance } from './acceptances-store.ts'
import type { Payment } from './payment.ts'

/** A statement records at most this many acceptances, because other statements on the same connection wait for it. */
const ACCEPTANCES_MAX = 32

interface Gathering {
  readonly acceptances: Acceptance[]
  /** The payments that the statement has changed, by id. */
  readonly changed: Promise<ReadonlyMap<string, Payment>>
}

/**
 * The acceptances of this turn of the event loop that are not sent yet. They are stored for each `db` object; a process
 * has only one such object.
 */
const gatherings = new WeakMap<Database, Gathering>()

/**
 * Records that the enclave accepted a payment. One statement records all acceptances that arrive in the same turn of
 * the event loop. Returns the recorded payment, or null if the statement did not change the payment: another
 * transaction has locked it, it has moved on, or the statement already contains another acceptance of it. Throws if the
 * statement fails.
 *
 * The commit does not wait for the disk (decision 0038).
 */
export async function acceptTogether(db: Database, acceptance: Acceptance): Promise<Payment | null> {
  const { id } = acceptance.payment
  const gathering = gatherings.get(db) ?? startGathering(db)
  if (gathering.acceptances.some(({ payment }) => payment.id === id)) return null
  gathering.acceptances.push(acceptance)
  if (gathering.acceptances.length >= ACCEPTANCES_MAX) gatherings.delete(db)
  return (await gathering.changed).get(id) ?? null
}

/** Starts to gather acceptances. At the end of this turn of the event loop, one statement records them. */
function startGathering(db: Database): Gathering {
  const acceptances: Acceptance[] = []
  const send = async (): Promise<ReadonlyMap<string, Payment>> => {
    await endOfTurn()
    if (gatherings.get(db) === gathering) gatherings.delete(db)
    const changed = await db.runRelaxed(markManyAccepted(acceptances))
    return new Map(changed.map((payment) => [payment.id, payment]))
  }
  const gathering: Gathering = { acceptances, changed: send() }
  gatherings.set(db, gathering)
  return gathering
}
