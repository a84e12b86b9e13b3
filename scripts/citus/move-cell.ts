import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createPayment } from '../../server/src/domain/payment-requests/create-payment.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { expectPayment } from '../../test/support/context/expect-outcome.ts'
import { paymentRequest, seed, type Seed } from '../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../test/support/context/test-context.ts'
import { readRows } from '../../test/support/database/read-rows.ts'
import { runOnServer } from '../../test/support/database/test-server.ts'
import { waitFor } from '../../test/support/wait-for.ts'

const PAYERS = 8
/** How often a payer repeats a request that failed, with the same idempotency key. */
const TRIES_MAX = 20
const PAUSE_MS = 250
/** How many payments each cell makes before the move, and after it. */
const PAYMENTS_BESIDE = 100

interface Cell extends TestContext {
  readonly schema: string
  readonly port: number
  /** The ids of the payments that were acknowledged. */
  readonly paid: string[]
  repeated: number
  slowestMs: number
}

/**
 * Makes payments with two processes in each of two cells, and moves the first cell to another worker at the same time.
 * Returns what happened, as lines. Throws if a payment is lost or was made twice.
 */
export async function moveCell(workers: readonly number[]): Promise<string[]> {
  const cells = [await openCell(), await openCell()] as const
  const [moved] = cells
  try {
    const stop = new AbortController()
    const work = cells.flatMap((cell) => {
      const processes = [cell.context, cell.openAnother()]
      return Array.from({ length: PAYERS }, async (_, number) => {
        const ctx = processes[number % processes.length] ?? cell.context
        const payer = await seed(ctx)
        while (!stop.signal.aborted) await pay(cell, { ctx, payer })
      })
    })
    const lines: string[] = []
    const drive = async (): Promise<void> => {
      await makeMore(cells)
      const target = workers.find((port) => port !== moved.port) ?? 0
      const before = cells.map(({ paid }) => paid.length)
      const startMs = performance.now()
      await runOnServer('select citus_schema_move($1::regnamespace, $2::text, $3::integer)', [
        moved.schema,
        '127.0.0.1',
        target,
      ])
      const seconds = ((performance.now() - startMs) / 1_000).toFixed(1)
      const during = cells.map(({ paid }, index) => paid.length - (before[index] ?? 0))
      if ((await findPort(moved.schema)) !== target) throw new Error('the cell was not moved')
      lines.push(`moved in ${seconds} s, payments meanwhile: ${during[0]} in this cell, ${during[1]} in the other one`)
      await makeMore(cells)
    }
    try {
      await Promise.race([drive(), ...work])
    } finally {
      stop.abort()
      await Promise.allSettled(work)
    }
    await Promise.all(work)
    for (const cell of cells) lines.push(await compare(cell))
    return lines
  } finally {
    for (const cell of cells) await cell.close()
  }
}

async function openCell(): Promise<Cell> {
  const given = await openTestContext()
  const schema = new URL(given.config.database.url).username
  return { ...given, schema, port: await findPort(schema), paid: [], repeated: 0, slowestMs: 0 }
}

async function findPort(schema: string): Promise<number> {
  const text = 'select distinct nodeport as port from citus_shards where table_name::text like $1'
  const { rows } = await runOnServer(text, [`${schema}.%`])
  if (rows.length !== 1) throw new Error(`the tables of ${schema} are on ${rows.length} servers`)
  return Number(rows[0].port)
}

/** Waits until each cell has made some more payments. */
async function makeMore(cells: readonly Cell[]): Promise<void> {
  const goals = cells.map((cell) => ({ cell, count: cell.paid.length + PAYMENTS_BESIDE }))
  await waitFor('more payments', () => goals.every(({ cell, count }) => cell.paid.length >= count))
}

/** Makes one payment. Repeats the request if it fails, as a client would. */
async function pay(cell: Cell, { ctx, payer }: { ctx: Context; payer: Seed }): Promise<void> {
  const request = paymentRequest(payer, { amountUsdc: '0.01', idempotencyKey: randomUUID() })
  const startMs = performance.now()
  for (let tries = 1; ; tries += 1) {
    try {
      cell.paid.push(expectPayment(await createPayment(ctx, request)).id)
      break
    } catch (error) {
      if (tries === TRIES_MAX) throw error
      cell.repeated += 1
      await delay(PAUSE_MS)
    }
  }
  cell.slowestMs = Math.max(cell.slowestMs, performance.now() - startMs)
}

/** Compares the payments that were acknowledged with the rows of the cell and with the transfers of the enclave. */
async function compare({ schema, context, enclave, paid, repeated, slowestMs }: Cell): Promise<string> {
  const [payments, events] = await Promise.all([
    readRows(context.db, 'select id from payments'),
    readRows(context.db, `select 1 from events where type = 'payment.created'`),
  ])
  const stored = new Set(payments.map(({ id }) => String(id)))
  const lost = paid.filter((id) => !stored.has(id)).length
  const line =
    `${schema}: ${paid.length} payments acknowledged, ${stored.size} stored, ${events.length} events, ` +
    `${enclave.accepted.size} transfers, ${lost} lost, ${repeated} requests repeated, slowest ${Math.round(slowestMs)} ms`
  const counts = [stored.size, new Set(paid).size, events.length, enclave.accepted.size]
  if (lost > 0 || counts.some((count) => count !== paid.length)) throw new Error(line)
  return line
}
