import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  BLOCK_HASH,
  createFile,
  createList,
  createListLines,
  createPlan,
  encode,
  getLeaf,
  signNote,
  TX_HASH,
} from '../../test/signer/evidence-sample.ts'
import { RECIPIENT, USDC, WALLET } from '../../test/signer/sample-requests.ts'
import { openHome, type CliResult, type Home, type RunOptions } from './support/run-cli.ts'

/** The same verifier in one file, which `npm test` builds first. */
const PROGRAM = fileURLToPath(new URL('../../signer/dist/bursar-verify.mjs', import.meta.url))

const plan = createPlan('transfer')
const list = createListLines(3)
const ZEROS = '0'.repeat(24)
const RECEIPT = {
  ...{ transactionHash: TX_HASH, status: '0x1', blockNumber: '0x7b', blockHash: BLOCK_HASH },
  logs: [
    {
      address: USDC,
      topics: [
        '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
        `0x${ZEROS}${WALLET.slice(2)}`,
        `0x${ZEROS}${RECIPIENT.slice(2)}`,
      ],
      data: `0x${(1_250_000).toString(16).padStart(64, '0')}`,
      logIndex: '0x7',
    },
  ],
}

let home: Home
let file: string
let trust: readonly string[]

before(async () => {
  home = await openHome()
  file = await save('evidence.json', encode(createFile(plan)))
  const key = plan.owner.publicKeySpki
  const owner = await save('owner.pem', `-----BEGIN PUBLIC KEY-----\n${key}\n-----END PUBLIC KEY-----\n`)
  trust = ['--owner-key', owner, '--log-key', await save('log.txt', `${plan.log.verifierKey}\n`)]
})
after(() => home.close())

/** Both programs, which must say the same. */
const PROGRAMS: Record<string, (args: readonly string[], options?: RunOptions) => Promise<CliResult>> = {
  'bursar verify': async (args, options) => await home.run(['verify', ...args], options),
  'bursar-verify.mjs': runAlone,
}

for (const [name, run] of Object.entries(PROGRAMS)) {
  describe(name, () => {
    test('answers the three questions, and says what was not checked and what is not proved', async () => {
      const { code, stdout, stderr } = await run([file, ...trust, ...textOption(name)])
      assert.deepEqual([code, stderr], [0, ''])
      assert.match(stdout, /^Payment pay_1 \(live\): 1\.25 USDC from 0x1{40} to 0x2{40}/)
      const answers = [
        /\nOwner signed: yes \(/,
        /\nWithin the signed limits: yes \(/,
        /\nHappened on the chain: not checked \(/,
      ]
      for (const answer of answers) assert.match(stdout, answer)
      assert.match(stdout, /could not be checked:\n- You gave no node of the chain\.\n/)
      assert.match(stdout, /does not prove:\n- Who used the passkey/)
    })

    test('writes JSON, and reads standard input', async () => {
      const input = Buffer.from(encode(createFile(plan))).toString()
      const { code, stdout } = await run(['-', '--owner-key', plan.owner.publicKeySpki, '--json'], { input })
      const answer = JSON.parse(stdout) as Record<string, unknown>
      assert.deepEqual([code, answer['valid'], answer['payment']], [0, true, 'pay_1'])
      const verdicts = [answer['owner_signed'], answer['within_limits'], answer['on_chain'], answer['amount_usdc']]
      assert.deepEqual(verdicts, ['yes', 'yes', 'not checked', '1.25'])
    })

    test('ends with 1 if an answer is no', async () => {
      const { code, stdout } = await run([file, '--owner-key', plan.other.publicKeySpki, ...textOption(name)])
      assert.equal(code, 1)
      assert.match(stdout, /Owner signed: no \(.*not among/)
    })

    test('names the part that is wrong, and ends with 1', async () => {
      const changed = Buffer.from(encode(createFile(plan)))
        .toString()
        .replace('1250000', '9250000')
      const { code, stdout, stderr } = await run([await save('changed.json', changed), ...trust, ...textOption(name)])
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, /The evidence is not valid\. In logs\[0\]\.leaves\[3\]\.proof: /)
    })

    test('asks the node that --rpc names', async () => {
      const node = await startNode()
      try {
        const { code, stdout } = await run([file, ...trust, '--rpc', node.url, '--json'])
        assert.deepEqual([code, (JSON.parse(stdout) as { on_chain: string }).on_chain], [0, 'yes'])
        assert.deepEqual(node.methods, ['eth_chainId', 'eth_getTransactionReceipt'])
        await node.close()
        const later = await run([file, ...trust, '--rpc', node.url, ...textOption(name)])
        assert.equal(later.code, 0)
        assert.match(later.stdout, /chain: not checked \(The node gave no answer/)
      } finally {
        await node.close()
      }
    })

    test('does not follow a node to another host', async () => {
      const node = await startNode()
      const elsewhere = await startHost((_request, response) => response.writeHead(307, { location: node.url }).end())
      try {
        const { code, stdout } = await run([file, ...trust, '--rpc', elsewhere.url, ...textOption(name)])
        assert.deepEqual([code, node.methods], [0, []])
        assert.match(stdout, /chain: not checked \(The node gave no answer/)
      } finally {
        await elsewhere.close()
        await node.close()
      }
    })

    test('verifies an export, and lists the payments with the answer no', async () => {
      const path = await save('list.ndjson', createList(list))
      const key = ['--owner-key', list.plan.owner.publicKeySpki]
      const { code, stdout } = await run([path, ...key, ...textOption(name)])
      assert.equal(code, 1)
      assert.match(stdout, /^Payments: 4\. With the answer no: 1\. Left out, .*: 3\.\n/)
      assert.match(stdout, /Owner signed: 3 yes, 1 no, 0 not checked/)
      assert.match(stdout, /\nWithdrawal pay_1 .*\nOwner signed: no \(/)
      const json = await run([path, '--json'])
      const answer = JSON.parse(json.stdout) as { left_out: number; payments: { payment: string }[] }
      assert.deepEqual([json.code, answer.left_out, answer.payments.length], [0, 3, 4])
      const cut = createList(list).split('\n').toSpliced(3, 1).join('\n')
      const { code: failed, stderr } = await run([await save('cut.ndjson', cut), ...textOption(name)])
      assert.equal(failed, 1)
      assert.match(stderr, /In lines\[/)
    })

    test('writes no control characters of the file', async () => {
      const other = createPlan('transfer')
      const [grant, id] = ['grt_\u001b[2J\u202e', 'pay_\u001b]0;x\u0007\u202e']
      for (const event of ['decided', 'ended']) getLeaf(other, event).leaf['subject'] = id
      getLeaf(other, 'decided').leaf['agent'] = grant
      const path = await save('hostile.json', encode(createFile(other)))
      for (const format of [textOption(name), ['--json']]) {
        const { code, stdout } = await run([path, ...format])
        assert.equal(code, 0)
        assert.doesNotMatch(stdout.replaceAll('\n', ''), /\p{Cc}|\u202e/u)
        assert.match(stdout, /pay_/)
      }
    })

    const wrong: Record<string, readonly string[]> = {
      'a file that does not exist': ['/nowhere/evidence.json'],
      'no file': [],
      'a key that is none': ['-', '--owner-key', fileURLToPath(import.meta.url)],
      'a key of a log that is none': ['-', '--log-key', 'a+b'],
      'a node that is none': ['-', '--rpc', 'ftp://node.example'],
      'an option that does not exist': ['-', '--what'],
    }
    for (const [what, args] of Object.entries(wrong)) {
      test(`ends with 2 for ${what}`, async () => {
        const { code, stdout, stderr } = await run(args)
        assert.deepEqual([code, stdout], [2, ''])
        assert.ok(stderr.length > 10)
      })
    }
  })
}

describe('bursar verify --since', () => {
  const sample = createFile(plan)
  const [log] = sample.logs
  const [, size = ''] = log?.checkpoint.split('\n') ?? []
  const rewritten = signNote(`${plan.log.origin}\n${size}\n${Buffer.alloc(32).toString('base64')}\n`, plan.log)

  test('says whether the log still contains what an old checkpoint covers', async () => {
    const host = await startLog(log?.checkpoint ?? '')
    try {
      const path = await save('logged.json', encode(sample))
      const compare = async (checkpoint: string, ...options: readonly string[]): Promise<CliResult> => {
        const since = await save('since.txt', checkpoint)
        return await home.run(['verify', path, ...trust, '--since', since, '--log-url', host.url, ...options])
      }
      const same = await compare(log?.checkpoint ?? '', '--no-json')
      assert.deepEqual([same.code, same.stderr], [0, ''])
      assert.match(same.stdout, /\n\nLog since the old checkpoint: consistent\. /)
      const other = await compare(rewritten, '--json')
      assert.equal(other.code, 1)
      assert.match(other.stderr, /log_inconsistent/)
      assert.equal((await compare('no checkpoint')).code, 1)
      await host.close()
      const unreachable = await compare(rewritten)
      assert.deepEqual([unreachable.code, unreachable.stdout], [1, ''])
      assert.match(unreachable.stderr, /log_unreadable/)
    } finally {
      await host.close()
    }
  })
})

function textOption(name: string): readonly string[] {
  return name === 'bursar verify' ? ['--no-json'] : []
}

async function save(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(home.folder, name)
  await writeFile(path, content)
  return path
}

async function runAlone(args: readonly string[], { input = '' }: RunOptions = {}): Promise<CliResult> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: {}, stdio: 'pipe' })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  // A program that was called wrongly does not read its input.
  child.stdin.on('error', () => undefined).end(input)
  const code = await new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject))
  return { code, ...output }
}

interface Host {
  readonly url: string
  close(): Promise<void>
}

/** A node of the chain that knows the transaction of the sample. */
async function startNode(): Promise<Host & { methods: string[] }> {
  const methods: string[] = []
  const host = await startHost((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const { method } = JSON.parse(body) as { method: string }
      methods.push(method)
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: method === 'eth_chainId' ? '0x2105' : RECEIPT }))
    })
  })
  return { ...host, methods }
}

/** The host of a log, with its newest checkpoint. */
async function startLog(checkpoint: string): Promise<Host> {
  const host: Host = await startHost((request, response) => {
    if (request.url === '/log/checkpoint') return response.end(checkpoint)
    const urls = { checkpoint_url: `${host.url}/log/checkpoint`, tiles_url: `${host.url}/log/tile` }
    return response.end(
      JSON.stringify({ origin: plan.log.origin, verifier_key: plan.log.verifierKey, ...urls, restored: [] }),
    )
  })
  return host
}

async function startHost(respond: RequestListener): Promise<Host> {
  const server = createServer(respond)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
}
