import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { buyAs, offerOf, seedBuyer } from '../../../test/support/context/seed-buyer.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { startFakeSeller, type FakeSeller } from '../../../test/support/wires/fake-seller.ts'
import { OPERATOR } from '../domain/audit/audit-entry.ts'
import type { Context } from '../domain/context.ts'
import { checkEncryptionKeys } from '../domain/encryption-keys/check-encryption-keys.ts'
import { findPurchase } from '../domain/purchases/purchases-store.ts'
import { openOrder } from '../domain/purchases/seal-purchase.ts'
import { createEndpoint } from '../domain/webhooks/create-endpoint.ts'
import { rotateSecret } from '../domain/webhooks/rotate-secret.ts'
import { createLogger } from '../lib/logger.ts'
import type { SealingKey } from '../lib/sealing.ts'
import { openContext } from '../service.ts'
import { ANSWER_RETENTION_MS, cleanUpOnce } from './clean-up.ts'
import { renewSecretsOnce } from './renew-secrets.ts'

const always = async (): Promise<boolean> => true

describe('the encryption keys', () => {
  let given: TestContext
  let seller: FakeSeller
  const opened: { close(): Promise<void> }[] = []
  const unnamed: SealingKey = { id: null, key: randomBytes(32) }
  const first: SealingKey = { id: '1', key: unnamed.key }
  const second: SealingKey = { id: '2', key: randomBytes(32) }
  beforeEach(async () => {
    given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true, encryptionKeys: [unnamed] }))
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context, { maxTimeoutSeconds: 120 })]
    seller.deliver = (response) => response.writeHead(200).end('goods')
  })
  afterEach(async () => {
    await seller.close()
    await Promise.all(opened.splice(0).map((each) => each.close()))
    await given.close()
  })

  /** Starts a process with these keys. */
  async function start(...keys: readonly SealingKey[]): Promise<Context> {
    const { context, close } = openContext({ ...given.config, encryptionKeys: keys }, { clock: given.clock, logger })
    opened.push({ close })
    await checkEncryptionKeys(context, keys)
    return context
  }
  const logger = createLogger('silent')

  /** Stores a secret of each kind, as one process with the given keys. */
  async function store(...keys: readonly SealingKey[]) {
    const context = await start(...keys)
    const buyer = await seedBuyer({ ...given, context })
    const { purchase } = await buyAs(context, buyer, { url: `${seller.url}/goods` })
    const place = { workspaceId: buyer.workspace.id, mode: 'test' } as const
    const events = ['payment.confirmed'] as const
    const endpoint = { ...place, url: 'http://127.0.0.1:9/', events, actor: OPERATOR }
    const { endpoint: rotated } = await createEndpoint(context, endpoint)
    await rotateSecret(context, { workspaceId: place.workspaceId, id: rotated.id, actor: OPERATOR })
    await context.successorKey.read()
    return { context, buyer, purchase }
  }

  /** Returns how many secrets of each kind begin with a mark. */
  async function countMarked(mark: string): Promise<readonly number[]> {
    const text = (table: string, column: string): string =>
      `(select count(*)::int from ${table} where substring(${column} for ${mark.length}) = '${mark}'::bytea)`
    const [row] = await readRows(
      given.context.db,
      `select ${text('wallet_slots', 'signer_private_key_sealed')} as a, ${text('webhook_endpoints', 'secret_sealed')} as b,
        ${text('webhook_endpoints', 'previous_secret_sealed')} as c, ${text('purchases', 'order_sealed')} as d,
        ${text('purchases', 'header_sealed')} as e, ${text('purchases', 'response_sealed')} as f,
        ${text('server_keys', 'key_sealed')} as g`,
      [],
    )
    return Object.values(row ?? {}).map(Number)
  }

  test('are changed while the service works: everything is encrypted again, and then the old key is not needed', async () => {
    const { context, buyer, purchase } = await store(unnamed)
    const processes = [await start(first, second), await start(second, first)]
    const [, renewing] = processes
    assert.ok(renewing !== undefined)
    const work = () => renewSecretsOnce(renewing, [second, first], always)
    assert.equal(await work(), 'working')
    // The seller's response is not encrypted again. It is deleted after 24 hours.
    assert.deepEqual(await countMarked('key:2:'), [1, 1, 1, 1, 1, 0, 1])
    assert.equal(await work(), 'waiting')
    await assert.rejects(start(second), /the key "1"/)
    for (const process of processes) {
      assert.equal((await buyAs(process, buyer, { url: `${seller.url}/goods` })).answer?.body, 'goods')
    }
    given.clock.setOffset(ANSWER_RETENTION_MS + 60_000)
    await cleanUpOnce(given.context, 'purchases')
    assert.equal(await work(), 'done')
    const renewed = await start(second)
    given.clock.setOffset(0)
    assert.equal((await buyAs(renewed, buyer, { url: `${seller.url}/more`, key: 'two' })).answer?.body, 'goods')
    const stored = await renewed.db.read(
      findPurchase({ workspaceId: buyer.workspace.id, paymentId: purchase.paymentId }),
    )
    assert.ok(stored !== null)
    assert.equal(openOrder(renewed.sealer, stored)?.url, `${seller.url}/goods`)
    assert.deepEqual(await renewed.successorKey.read(), await context.successorKey.read())
  })

  test('are checked at the start: a process without a needed key, or with another one, does not start', async () => {
    await store(unnamed)
    await assert.rejects(start({ id: null, key: randomBytes(32) }), /the key of ENCRYPTION_KEY/)
    await assert.rejects(start(second), /the key of ENCRYPTION_KEY/)
    await start(first)
    await assert.rejects(start({ id: '1', key: randomBytes(32) }), /the key "1"/)
    await start(unnamed)
  })

  test('do not change back when a process still has the earlier settings', async () => {
    await store(first, second)
    const late = await start(second, first)
    assert.equal(await renewSecretsOnce(late, [second, first], always), 'working')
    const marked = await countMarked('key:2:')
    const early = await start(first, second)
    assert.equal(await renewSecretsOnce(early, [first, second], always), 'done')
    assert.deepEqual(await countMarked('key:2:'), marked)
    await assert.rejects(start(second), /the key "1"/)
  })

  test('are changed in bounded steps, and what another process stores meanwhile is kept', async () => {
    const { context, buyer } = await store(first)
    const renewing = await start(second, first)
    assert.equal(await renewSecretsOnce(renewing, [second, first], async () => false), 'working')
    assert.deepEqual(await countMarked('key:2:'), [0, 0, 0, 0, 0, 0, 0])
    const [endpoint] = await readRows(given.context.db, 'select id from webhook_endpoints', [])
    const place = { workspaceId: buyer.workspace.id, id: String(endpoint?.['id']), actor: OPERATOR }
    let pages = 0
    const outcome = await renewSecretsOnce(renewing, [second, first], async () => {
      pages += 1
      if (pages === 3) await rotateSecret(context, place)
      return true
    })
    assert.equal(outcome, 'working')
    assert.deepEqual((await countMarked('key:2:')).slice(1, 3), [0, 1])
    assert.equal(await renewSecretsOnce(renewing, [second, first], always), 'working')
    assert.deepEqual((await countMarked('key:2:')).slice(1, 3), [1, 1])
  })
})
