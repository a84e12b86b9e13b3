import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seedConnection } from '../../../../test/support/context/connection-rows.ts'
import { frozenAt, later } from '../../../../test/support/context/moved-clock.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { SCOPES } from '../../values/scope.ts'
import type { Context } from '../context.ts'
import { cleanUpOnce } from '../../jobs/clean-up.ts'
import { STALE_DOCUMENT_MAX_MS, UNUSED_CLIENT_RETENTION_MS } from './limits.ts'
import { findClient } from './queries.ts'
import { recordDocumentClient } from './record-document-client.ts'

const MINUTE_MS = 60_000
const OLD = ['http://127.0.0.1/old']
const NEW = ['http://127.0.0.1/new']

describe('recordDocumentClient', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = frozenAt(given.context, given.context.clock.now())
  })
  after(() => given.close())

  const save = async (
    context: Context,
    url: string,
    redirectUris: string[],
    source: 'fetched' | 'built_in' = 'fetched',
  ) =>
    await recordDocumentClient(context, { url, name: 'A', redirectUris, scopes: SCOPES, freshForMs: MINUTE_MS, source })

  test('stores a document, and then replaces it', async () => {
    const url = 'https://a.example/stored'
    const first = await save(ctx, url, OLD)
    const now = ctx.clock.now()
    assert.deepEqual(first, {
      id: url,
      kind: 'document',
      name: 'A',
      redirectUris: OLD,
      scopes: SCOPES,
      createdAt: now,
      lastUsedAt: null,
      fetchedAt: now,
      freshUntil: new Date(now.getTime() + MINUTE_MS),
    })
    const second = await save(later(ctx, MINUTE_MS), url, NEW)
    assert.deepEqual([second.redirectUris, second.createdAt], [NEW, now])
    assert.deepEqual(await findClient(ctx, { id: url }), second)
  })

  test('keeps a newer copy, whichever process stores its own last', async () => {
    const url = 'https://a.example/newer'
    const newer = await save(later(ctx, MINUTE_MS), url, NEW)
    assert.deepEqual(await save(ctx, url, OLD), newer)
  })

  test('replaces a copy with a built-in one only after 7 days', async () => {
    const url = 'https://a.example/built-in'
    await save(ctx, url, OLD)
    assert.deepEqual((await save(later(ctx, STALE_DOCUMENT_MAX_MS - 1), url, NEW, 'built_in')).redirectUris, OLD)
    const builtIn = await save(later(ctx, STALE_DOCUMENT_MAX_MS), url, NEW, 'built_in')
    assert.deepEqual([builtIn.redirectUris, builtIn.fetchedAt], [NEW, null])
    assert.deepEqual((await save(ctx, url, OLD)).redirectUris, OLD)
  })

  test('is undone by the clean-up after 7 days, if no person has decided on a request of the client', async () => {
    const [used, unused] = ['https://a.example/used', 'https://a.example/unused']
    const client = await save(ctx, used, NEW)
    await save(ctx, unused, NEW)
    await seedConnection(ctx, { client, redirectUri: 'http://127.0.0.1/new' })
    await cleanUpOnce(later(ctx, UNUSED_CLIENT_RETENTION_MS - 1), 'connections')
    assert.notEqual(await findClient(ctx, { id: unused }), null)
    await cleanUpOnce(later(ctx, UNUSED_CLIENT_RETENTION_MS), 'connections')
    assert.equal(await findClient(ctx, { id: unused }), null)
    assert.notEqual(await findClient(ctx, { id: used }), null)
  })
})
