import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fetchOnce } from '../../sandbox/src/lib/fetch-once.ts'
import { appendLeaves } from '../../server/src/domain/transparency-log/append-leaves.ts'
import { hashLeaf, rootOf } from '../../server/src/domain/transparency-log/merkle-tree.ts'
import { seed } from '../support/context/seed.ts'
import { readNote } from '../support/context/evidence-file.ts'
import { readLeaves } from '../support/context/log-leaves.ts'
import { expectError, readBody } from '../support/http-client.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

interface Metadata {
  readonly origin: string
  readonly verifier_key: string
  readonly checkpoint_url: string
  readonly tiles_url: string
}

describe('the public files of the transparency log (D80)', () => {
  let given: TestService
  before(async () => {
    given = await openTestService()
  })
  after(() => given.close())

  test('before the first leaf there is no checkpoint, and the document names the key already', async () => {
    expectError(await given.call({ path: '/log/checkpoint' }), { type: 'not_found' })
    const { origin, verifier_key: key } = await readMetadata()
    assert.equal(origin, 'localhost:4100/log')
    assert.ok(key.startsWith(`${origin}+`))
  })

  test('anybody can read the checkpoint and the tiles, verify the signature and compute the root', async () => {
    await seed(given.context)
    await appendLeaves(given.context, { limit: 100 })
    const metadata = await readMetadata()
    const { pathname } = new URL(metadata.checkpoint_url)
    const answer = await given.call({ path: pathname })
    assert.equal(answer.status, 200)
    assert.deepEqual(
      [answer.headers['content-type'], answer.headers['cache-control'], answer.headers['access-control-allow-origin']],
      ['text/plain; charset=utf-8', 'public, max-age=1', '*'],
    )
    const [origin, size, root] = readNote(answer.text, metadata.verifier_key).split('\n')
    assert.equal(origin, metadata.origin)
    const leaves = await readLeaves(given.context.db)
    assert.equal(Number(size), leaves.length)
    const hashes = leaves.map(({ content }) => hashLeaf(Buffer.from(content)))
    const tile = await fetchOnce(`${given.url}${new URL(metadata.tiles_url).pathname}/0/000.p/${size}`)
    assert.deepEqual(
      [tile.headers.get('content-type'), tile.headers.get('cache-control')],
      ['application/octet-stream', 'public, max-age=31536000, immutable'],
    )
    assert.deepEqual(Buffer.from(await tile.arrayBuffer()), Buffer.concat(hashes))
    const read = (start: number, width: number) => (width === 1 ? (hashes[start] ?? null) : null)
    assert.equal(rootOf(read, hashes.length).toString('base64'), root)
  })

  test('a tile that does not exist yet, and a leaf, cannot be read, and caches do not keep this', async () => {
    for (const path of ['/log/tile/0/000', '/log/tile/0/001.p/1', '/log/tile/1/000.p/1', '/log/tile/entries/000']) {
      const answer = await given.call({ path })
      const { message } = expectError(answer, { type: 'not_found' })
      const cached = answer.headers['cache-control']
      assert.deepEqual([message, cached], ['The transparency log has no such tile.', 'no-store'], path)
    }
  })

  async function readMetadata(): Promise<Metadata> {
    return readBody<Metadata>(await given.call({ path: '/.well-known/bursar-log.json' }), 200)
  }
})
