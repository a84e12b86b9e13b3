import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, truncateSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isProcessAlive } from '../lib/process-facts.ts'
import { callRpc } from './call-rpc.ts'
import { findFreePort } from '../../../test/support/free-port.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { makeFolder, startTestChain, TEST_CHAIN_ID } from '../../test/support/chain-fixture.ts'
import { deployUsdc } from './deploy-usdc.ts'
import { mintUsdc } from './mint-usdc.ts'
import { startChain } from './start-chain.ts'

type Receipt = { readonly status: string; readonly blockNumber: string; readonly blockHash: string }

const recipient = '0x00000000000000000000000000000000000000aa'

const findReceipt = async (rpcUrl: string, hash: string): Promise<Receipt | undefined> =>
  ((await callRpc(rpcUrl, 'eth_getTransactionReceipt', [hash])) as Receipt | null) ?? undefined

test('a restarted chain still has its blocks, receipts, logs and contract', async (t) => {
  const stateFile = join(makeFolder(), 'chain.state')
  const first = await startTestChain(t, { stateFile })
  const usdc = await deployUsdc(first.rpcUrl)
  const hash = await mintUsdc(first.rpcUrl, { to: recipient, amountMicro: 5n })
  const before = await waitFor('the receipt', () => findReceipt(first.rpcUrl, hash))
  await first.stop()
  assert.equal(isProcessAlive(first.pid), false)

  const second = await startTestChain(t, { stateFile })
  assert.deepEqual(await findReceipt(second.rpcUrl, hash), before)
  assert.ok((await second.blockNumber()) >= Number(before.blockNumber))
  const logs = await callRpc(second.rpcUrl, 'eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest', address: usdc }])
  assert.equal((logs as { transactionHash: string }[]).at(-1)?.transactionHash, hash)
  assert.equal(await deployUsdc(second.rpcUrl), usdc)
})

test('a transaction is saved automatically, and if the state file is damaged, the previous copy is used', async (t) => {
  const stateFile = join(makeFolder(), 'chain.state')
  const first = await startTestChain(t, { stateFile })
  await deployUsdc(first.rpcUrl)
  await waitFor('the state file', () => existsSync(stateFile))
  const hash = await mintUsdc(first.rpcUrl, { to: recipient, amountMicro: 5n })
  const receipt = await waitFor('the receipt', () => findReceipt(first.rpcUrl, hash))
  await first.save()
  await first.stop()
  truncateSync(stateFile, Math.floor(readFileSync(stateFile).length / 2))

  const second = await startTestChain(t, { stateFile })
  assert.deepEqual(await findReceipt(second.rpcUrl, hash), receipt)
  await second.stop()
  truncateSync(stateFile, 10)
  truncateSync(`${stateFile}.previous`, 10)
  await assert.rejects(startTestChain(t, { stateFile }), /are damaged/)
})

test('a reorganization removes a receipt until the transaction is mined in another block', async (t) => {
  const chain = await startTestChain(t)
  await deployUsdc(chain.rpcUrl)
  chain.setMining(false)
  await chain.mine(1)
  const hash = await mintUsdc(chain.rpcUrl, { to: recipient, amountMicro: 5n })
  await chain.mine(2)
  const before = await findReceipt(chain.rpcUrl, hash)
  assert.ok(before)
  const height = await chain.blockNumber()

  await chain.reorg(2)
  assert.equal(await chain.blockNumber(), height)
  assert.equal(await findReceipt(chain.rpcUrl, hash), undefined)
  const replaced = (await callRpc(chain.rpcUrl, 'eth_getBlockByNumber', [before.blockNumber, false])) as {
    hash: string
    transactions: unknown[]
  }
  assert.notEqual(replaced.hash, before.blockHash)
  assert.equal(replaced.transactions.length, 0)

  chain.setMining(true)
  const after = await waitFor('the receipt', () => findReceipt(chain.rpcUrl, hash))
  assert.equal(after.status, '0x1')
  assert.ok(Number(after.blockNumber) > height)
})

test('while mining is off, no block is mined; a waiting transaction is mined after it is on again', async (t) => {
  const chain = await startTestChain(t)
  await deployUsdc(chain.rpcUrl)
  chain.setMining(false)
  await chain.mine(1)
  const height = await chain.blockNumber()
  const hash = await mintUsdc(chain.rpcUrl, { to: recipient, amountMicro: 5n })
  // A save waits until the miner's current tick has ended. If a tick had mined a block, the height would be different
  // after these saves.
  for (let saves = 0; saves < 5; saves += 1) await chain.save()
  assert.equal(await chain.blockNumber(), height)
  chain.setMining(true)
  assert.equal((await waitFor('the receipt', () => findReceipt(chain.rpcUrl, hash))).status, '0x1')
})

test('a number of blocks outside the limits is rejected', async (t) => {
  const chain = await startTestChain(t)
  for (const blocks of [0, -1, 1.5, 1_001]) await assert.rejects(chain.mine(blocks), /whole number from 1 to 1000/)
  await assert.rejects(chain.reorg(13), /whole number from 1 to 12/)
})

test('a port that is in use causes one clear message', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  await assert.rejects(startTestChain(t, { port: address.port }), {
    message: `port ${address.port} is in use: the chain's node cannot listen on it`,
  })
})

test('a node that dies is reported once', async (t) => {
  const details: string[] = []
  const chain = await startTestChain(t, { onExit: (detail) => details.push(detail) })
  process.kill(chain.pid, 'SIGKILL')
  await waitFor('the end of the chain', () => details[0])
  await chain.stop()
  assert.deepEqual(details, ["the chain's node ended (SIGKILL)"])
})

test('after the process was killed, the next start stops the old node and loses no block', async (t) => {
  const stateFile = join(makeFolder(), 'chain.state')
  const port = await findFreePort()
  const module = new URL('start-chain.ts', import.meta.url).href
  const options = JSON.stringify({ chainId: TEST_CHAIN_ID, port, stateFile })
  const code = `const { startChain } = await import(${JSON.stringify(module)})
    const chain = await startChain(${options}); chain.setMining(false); await chain.mine(7); process.stdout.write(String(chain.pid))`
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const parent = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [bytes] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(bytes.toString())
  await assert.rejects(startChain({ chainId: TEST_CHAIN_ID, port, stateFile }), /in use by another sandbox/)
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  assert.equal(isProcessAlive(pid), true)

  const chain = await startTestChain(t, { stateFile, port })
  assert.equal(isProcessAlive(pid), false)
  assert.ok((await chain.blockNumber()) >= 7)
})
