import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { openEvidence } from '../support/context/evidence-file.ts'
import { send } from '../support/http-client.ts'
import { backUpDatabase } from '../support/restore/database-backup.ts'
import { flipBytes } from './changed-files.ts'
import { createOwner } from './forged-file.ts'
import { ForgedLog } from './forged-log.ts'
import { exportFiles } from './proven-payments.ts'
import { openProvenSandbox, type ProvenSandbox } from './proven-sandbox.ts'
import { NO_PYTHON, type Given } from './python-verifier.ts'

const YES = { owner_signed: 'yes', within_limits: 'yes', on_chain: 'yes' }
const TRANSFER = 'a transfer just before the revocation'
/** So many files are verified at the same time. */
const FILES_AT_ONCE = 16
/** Of the smallest file, every byte is changed. Both verifiers verify one in so many of these files. */
const BOTH_STEP = 20
/** Of all files, one byte in so many is changed. */
const CHOSEN_STEP = 311
const isChosen = (_: unknown, index: number): boolean => index % CHOSEN_STEP === 0

describe('the evidence of payments in the sandbox', () => {
  let proven: ProvenSandbox
  before(async () => {
    proven = await openProvenSandbox()
  })

  async function verifyAll(files: ReadonlyMap<string, string>): Promise<void> {
    const { payments, verifiers, given } = proven
    assert.equal(files.size, payments.ids.size)
    for (const [name, file] of files) {
      const payment = payments.ids.get(name)
      assert.deepEqual(await verifiers.verify(file, given), { valid: true, payment, ...YES }, name)
    }
  }

  async function ask(change: Partial<Given>): Promise<unknown> {
    const { files, verifiers, given } = proven
    const { valid, ...found } = await verifiers.verify(files.get(TRANSFER) ?? '', { ...given, ...change })
    if (!valid) return Object.values(found)
    assert.ok('payment' in found)
    return [found.owner_signed, found.within_limits, found.on_chain]
  }

  test('both verifiers answer yes to all three questions about each of them', async () => {
    await verifyAll(proven.files)
  })

  test('both verifiers answer yes about all of them in one export, which has what they share once', async () => {
    const { list, payments, verifiers, given } = proven
    const proved = [...payments.ids.values()].map((payment) => ({ payment, ...YES })).toReversed()
    assert.deepEqual(await verifiers.verify(list, given), { valid: true, left_out: 0, payments: proved })
    // The transfer and the purchase before the first suspension have everything in common.
    assert.equal(list.split('\n').filter((line) => line.includes('"signatures":[{')).length, proved.length - 1)
  })

  test('the file of a purchase has the address of the resource, and no cache keeps it', async () => {
    const { fixture, payments, files } = proven
    const { logs } = openEvidence(files.get('a purchase') ?? '')
    const answered = logs[0]?.leaves.find(({ content }) => content.includes('"purchase.answered"'))
    const { resource_url: url, ...signed } = answered?.texts ?? {}
    assert.match(url ?? '', /^http:/)
    assert.deepEqual(signed, { offer: null, receipt: null })
    const id = payments.ids.get('a purchase')
    const { headers } = await send(fixture.baseUrl, { path: `/v1/payments/${id}/evidence`, key: payments.key })
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(headers['content-disposition'], `attachment; filename="evidence-${id}.json"`)
    assert.equal(headers['cache-control'], 'no-store')
  })

  test('Python has verified them too', { skip: NO_PYTHON }, () => {
    assert.ok(proven.verifiers.countPython() >= proven.files.size)
  })

  test('the answers depend on the keys and on the node that the user gives', async () => {
    const { chains } = proven.fixture.sandbox.facts
    assert.deepEqual(await ask({ ownerKeys: [] }), ['not checked', 'yes', 'yes'])
    assert.deepEqual(await ask({ ownerKeys: [createOwner().publicKeySpki] }), ['no', 'not checked', 'not checked'])
    assert.deepEqual(await ask({ logKeys: [new ForgedLog().signer.verifierKey] }), ['logs[0].key'])
    assert.deepEqual(await ask({ rpc: chains.live.rpc_url }), ['yes', 'yes', 'not checked'])
    assert.deepEqual(await ask({ rpc: proven.fixture.baseUrl }), ['yes', 'yes', 'not checked'])
  })

  test('a file is invalid as soon as one of its bytes is another one, whichever it is', async () => {
    const withdrawal = flipBytes(proven.files.get('a withdrawal') ?? '')
    // The larger files have other parts too.
    const others = [...proven.files.values()].flatMap((file) =>
      flipBytes(file)
        .filter(isChosen)
        .map((one) => ({ ...one, isBoth: true })),
    )
    const changed = [...withdrawal.map((one, index) => ({ ...one, isBoth: index % BOTH_STEP === 0 })), ...others]
    const left = changed.values()
    const verify = async (): Promise<void> => {
      for (const { name, file, isBoth } of left) {
        const verdict = await (isBoth ? proven.verifiers.verify(file) : proven.verifiers.verifyHere(file))
        assert.ok(!verdict.valid && verdict.part !== '', name)
      }
    }
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, verify))
  })

  test('the evidence is the same after the database was restored from a copy', async () => {
    const { fixture, payments } = proven
    await fixture.sandbox.killServer('SIGTERM')
    const backup = await backUpDatabase(fixture.databaseUrl)
    await fixture.sandbox.startServer()
    await fixture.sandbox.killServer('SIGKILL')
    await backup.restore()
    await fixture.sandbox.startServer()
    const files = await exportFiles(fixture, payments)
    await verifyAll(files)
    for (const [name, file] of files) assert.deepEqual(withoutTree(file), withoutTree(proven.files.get(name) ?? ''))
  })
})

/** Returns what does not change when the log grows. */
function withoutTree(file: string): unknown {
  const {
    logs,
    seal: _,
    ...rest
  } = JSON.parse(file) as {
    logs: readonly { leaves: readonly { readonly proof: unknown }[] }[]
    seal: string
  }
  return { ...rest, leaves: logs.map(({ leaves }) => leaves.map(({ proof: __, ...leaf }) => leaf)) }
}
