import { readConfig } from '../../server/src/config.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { openContext } from '../../server/src/service.ts'
import { call } from '../support/http-client.ts'
import { openSandboxFixture, type OwnSandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { share } from '../support/sandbox/share.ts'
import { makeFalsePayments } from './false-payments.ts'
import { exportAll, exportFiles, makePayments, passFence, type ProvenPayments } from './proven-payments.ts'
import type { Given } from './python-verifier.ts'
import { openVerifiers, type Verifiers } from './verifiers.ts'

/** A sandbox with payments of every kind, and their evidence. */
export interface ProvenSandbox {
  readonly fixture: OwnSandboxFixture
  readonly payments: ProvenPayments
  /** Payments that a service made that had been taken over. */
  readonly falsePayments: ProvenPayments
  /** The files of `payments`, by what is special about the payment. */
  readonly files: ReadonlyMap<string, string>
  /** The export with the evidence of all `payments`. */
  readonly list: string
  readonly verifiers: Verifiers
  /** The first owner's key, the log's key, and the node of the chain. */
  readonly given: Required<Given>
  close(): Promise<void>
}

/** Opens the sandbox that the test files of this folder share. They leave its database as they found it. */
export function openProvenSandbox(): Promise<ProvenSandbox> {
  return share('sandbox with evidence', async () => {
    const fixture = await openSandboxFixture()
    const verifiers = openVerifiers()
    const close = async (): Promise<void> => {
      await verifiers.close()
      await fixture.close()
    }
    try {
      return { fixture, verifiers, close, ...(await prepare(fixture)) }
    } catch (error) {
      await close()
      throw error
    }
  })
}

async function prepare(
  fixture: OwnSandboxFixture,
): Promise<Pick<ProvenSandbox, 'payments' | 'falsePayments' | 'files' | 'list' | 'given'>> {
  const config = readConfig(fixture.environment())
  const opened = openContext(config, { clock: createClock(), logger: createLogger('silent') })
  try {
    const payments = await makePayments(fixture, opened.context)
    const falsePayments = await makeFalsePayments(fixture, opened.context)
    await passFence(fixture)
    const files = await exportFiles(fixture, payments)
    const list = await exportAll(opened.context, payments.owned)
    const { text } = await call(fixture.baseUrl, 'GET', '/.well-known/bursar-log.json', {})
    const { verifier_key: logKey } = JSON.parse(text) as { verifier_key: string }
    const { rpc_url: rpc } = fixture.sandbox.facts.chains.test
    const given = { ownerKeys: [payments.owned.owner.publicKeySpki], logKeys: [logKey], rpc }
    return { payments, falsePayments, files, list, given }
  } finally {
    await opened.close()
  }
}
