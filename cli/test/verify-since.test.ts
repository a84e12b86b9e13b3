import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { formatCheckpoint, NoteSigner } from '../../server/src/domain/transparency-log/signed-note.ts'
import { runProgram } from '../../test/support/sandbox/run-program.ts'
import { startFakeServer, type FakeServer } from '../../test/support/wires/fake-server.ts'

const ORIGIN = 'api.example.com/log'
const signer = new NoteSigner(ORIGIN, Buffer.alloc(32, 7))

describe('bursar verify --since', () => {
  let folder: string
  let file: string
  let server: FakeServer
  let answer: { readonly status: number; readonly headers?: Record<string, string>; readonly body: string }
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-since-'))
    file = join(folder, 'checkpoint')
    await writeFile(file, signer.sign(formatCheckpoint({ origin: ORIGIN, size: 1, root: Buffer.alloc(32) })))
    server = await startFakeServer((request, _body, response) => {
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

  test('says what is wrong, if the log is not what it should be', async () => {
    answer = { status: 200, body: '{}' }
    const { exitCode, output } = await verify('--since', file, '--log-key', signer.verifierKey, '--log-url', server.url)
    assert.equal(exitCode, 1)
    assert.match(output, /does not have the members of a log/)
  })
})
