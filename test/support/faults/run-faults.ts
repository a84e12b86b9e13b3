import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { enclaveDir } from '../../../sandbox/src/state/data-dir-layout.ts'
import { listChainTransfers } from './chain-transfers.ts'
import {
  findFullestWindow,
  findViolations,
  PAYMENTS_WITH_EVENTS,
  toRecordedPayment,
  type Evidence,
  type SignedSend,
  type Violation,
} from './check-landings.ts'
import { openFaultFixture, type FaultFixtureOptions } from './fault-fixture.ts'
import { AMOUNT_MEAN, makePayments, type LoadReport } from './make-payments.ts'
import { settleAll } from './settle-all.ts'

export interface FaultRunOptions {
  readonly payments: number
  readonly share: number
  readonly seed: number
  readonly wallets: number
  readonly agentsPerWallet: number
  readonly callers: number
  readonly keys: number
  readonly waves: number
  readonly isHurried?: boolean
  readonly sandbox?: FaultFixtureOptions['sandbox']
  readonly onProgress?: (line: string) => void
}

export interface FaultRun {
  readonly report: LoadReport
  readonly evidence: Evidence
  readonly faults: Readonly<Record<string, number>>
  readonly rounds: number
  readonly fullestWindowPercent: number
  readonly violations: readonly Violation[]
}

const WAVE_SECONDS = 7 * 60 * 60
/**
 * A payer's daily cap, in tenths of its average spending in one wave. A day has four waves, so a payer spends 40 tenths
 * a day on average, which is a little more than the cap.
 */
const CAP_TENTHS_OF_WAVE = 36
/**
 * With fewer than four waves, the cap is this number of tenths of the average spending per wave, multiplied by the
 * number of waves. That is a fifth above the average spending of the run, so only payers that spend more than others
 * reach it.
 */
const TENTHS_OF_WAVE = 12

/**
 * Makes payments while random faults of the provider occur, waits until all have their final status, and checks the
 * result.
 */
export async function runFaults(options: FaultRunOptions): Promise<FaultRun> {
  const { payments, waves, wallets, agentsPerWallet, onProgress } = options
  const perWave = BigInt(Math.ceil(payments / waves / (wallets * agentsPerWallet)))
  const capMicro = (perWave * AMOUNT_MEAN * BigInt(Math.min(waves * TENTHS_OF_WAVE, CAP_TENTHS_OF_WAVE))) / 10n
  const { keys, sandbox = {} } = options
  const fixture = await openFaultFixture({ wallets, agentsPerWallet, keys, capMicro, sandbox })
  try {
    const report = await makePayments(fixture, { ...options, waveSeconds: WAVE_SECONDS }, onProgress)
    const rounds = await settleAll(fixture, onProgress)
    const faults = await fixture.countFaults()
    const transfers = await listChainTransfers(fixture)
    const recorded = (await fixture.database.query(PAYMENTS_WITH_EVENTS)).map(toRecordedPayment)
    // While the enclave runs, no other process can open its database, so the sandbox is stopped first.
    await fixture.sandbox.stop()
    const sends = listSends(fixture.sandbox.dataDir)
    const { acknowledged } = report
    const evidence = { payers: fixture.payers, payments: recorded, transfers, sends, acknowledged }
    const violations = findViolations(evidence)
    return { report, evidence, faults, rounds, fullestWindowPercent: findFullestWindow(evidence), violations }
  } finally {
    await fixture.sandbox.remove()
  }
}

function listSends(dataDir: string): SignedSend[] {
  const file = new DatabaseSync(join(enclaveDir(dataDir), 'enclave.db'), { readOnly: true })
  try {
    const rows = file.prepare('select reference_id, user_operation_hash, fault from sends').all()
    return rows.map((row) => ({
      referenceId: String(row['reference_id']),
      operationHash: String(row['user_operation_hash']),
      fault: row['fault'] === null ? null : String(row['fault']),
    }))
  } finally {
    file.close()
  }
}
