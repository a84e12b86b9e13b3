import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { formatCheckpoint, NoteSigner } from '../../server/src/domain/transparency-log/signed-note.ts'
import { hashLeaf } from '../../server/src/domain/transparency-log/merkle-tree.ts'
import type { JsonValue } from '../../server/src/lib/canonical-json.ts'
import { createOwner, sealFile, toFile, wholePayment } from '../../test/evidence/forged-file.ts'
import { ForgedLog, seal } from '../../test/evidence/forged-log.ts'
import { runProgram } from '../../test/support/sandbox/run-program.ts'
import { startFakeServer, type FakeServer } from '../../test/support/wires/fake-server.ts'

const ORIGIN = 'api.example.com/log'
const signer = new NoteSigner(ORIGIN, Buffer.alloc(32, 7))

describe('bursar verify --since', () => {
  let folder: string
  let file: string
  let server: FakeServer
  const files = new Map<string, string | Buffer>()
  let answer: { readonly status: number; readonly headers?: Record<string, string>; readonly body: string }
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-since-'))
    file = join(folder, 'checkpoint')
    await writeFile(file, signer.sign(formatCheckpoint({ origin: ORIGIN, size: 1, root: Buffer.alloc(32) })))
    server = await startFakeServer((request, _body, response) => {
      const found = files.get(request.url ?? '')
      if (found !== undefined) {
        response.writeHead(200).end(found)
        return
      }
      const { status, headers, body } = request.url === '/elsewhere' ? { status: 200, headers: {}, body: '{}' } : answer
      response.writeHead(status, headers).end(body)
    })
  })
  after(async () => {
    await server.close()
    await rm(folder, { recursive: true })
  })

  const verify = (...args: string[]) =>
    runProgram('cli/bin/bursar.js', { args: ['verify', ...args, '--json'], env: {} })

  test('needs a checkpoint, and the key of the log', async () => {
    const wrong = [[], ['--since', file], ['--since', file, '--log-key', join(folder, 'missing')]]
    for (const args of wrong) assert.equal((await verify(...args)).exitCode, 2)
    const { exitCode } = await verify('--since', file, '--log-key', signer.verifierKey, '--log-url', 'nowhere')
    assert.equal(exitCode, 2)
  })

  test('says that the log could not be read, if it is not there, leads elsewhere, or is too long', async () => {
    const answers: [typeof answer, RegExp][] = [
      [{ status: 404, body: '' }, /the log responded with 404/],
      [
        { status: 302, headers: { location: `${server.url}/elsewhere` }, body: '' },
        /bursar-log\.json: fetch failed\. If the log is elsewhere, .* --log-url/,
      ],
      [{ status: 200, body: 'x'.repeat(256 * 1_024 + 1) }, /has more than 262144 bytes/],
    ]
    for (const [each, reason] of answers) {
      answer = each
      const { exitCode, output } = await verify(
        '--since',
        file,
        '--log-key',
        signer.verifierKey,
        '--log-url',
        server.url,
      )
      assert.equal(exitCode, 1)
      assert.match(output, /log_unreadable/)
      assert.match(output, reason)
    }
  })

  test('compares all logs of evidence that have the key, so that none hides behind the one that is kept', async () => {
    const [honest, fork] = ['', '/restored-20260601120000000'].map(
      (suffix) => new ForgedLog(`${ORIGIN}${suffix}`, Buffer.alloc(32, 7)),
    ) as [ForgedLog, ForgedLog]
    const owner = createOwner()
    const parts = wholePayment(owner)
    const before = toFile(parts.slice(0, 4), fork)
    const after = toFile(parts.slice(4), honest)
    const [hidden, plain] = [join(folder, 'hidden.json'), join(folder, 'plain.json')]
    const signatures = before['signatures'] ?? []
    const logs = [before, after].flatMap((one) => one['logs'] as JsonValue[])
    await writeFile(hidden, seal({ ...after, logs, signatures }, honest))
    await writeFile(plain, sealFile(wholePayment(owner), honest))
    const size = honest.leaves.length
    const kept = join(folder, 'kept')
    await writeFile(kept, honest.checkpoint())
    const hashes = honest.leaves.map(({ content }) => hashLeaf(Buffer.from(content)))
    const log = { checkpoint_url: `https://${ORIGIN}/checkpoint`, tiles_url: `https://${ORIGIN}/tile`, restored: [] }
    files.set('/.well-known/bursar-log.json', JSON.stringify(log))
    files.set('/log/checkpoint', honest.checkpoint())
    files.set(`/log/tile/0/000.p/${size}`, Buffer.concat(hashes))
    const given = ['--since', kept, '--log-key', signer.verifierKey, '--log-url', server.url]
    assert.match((await verify(plain, ...given)).output, /"outcome":"consistent"/)
    const { exitCode, output } = await verify(hidden, ...given)
    files.clear()
    assert.equal(exitCode, 1)
    assert.match(output, /tree of the other checkpoint/)
  })

  test('says what is wrong, if the log is not what it should be', async () => {
    answer = { status: 200, body: '{}' }
    const { exitCode, output } = await verify('--since', file, '--log-key', signer.verifierKey, '--log-url', server.url)
    assert.equal(exitCode, 1)
    assert.match(output, /does not have the members of a log/)
  })
})
