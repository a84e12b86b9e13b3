import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { createPublicClient, http } from 'viem'
import { deployUsdc } from '../../../../sandbox/src/chain/deploy-usdc.ts'
import { mintUsdc } from '../../../../sandbox/src/chain/mint-usdc.ts'
import { startChain } from '../../../../sandbox/src/chain/start-chain.ts'
import { findProgram, shareCompileCache } from '../../../../sandbox/src/processes/programs.ts'
import { createSoftwarePasskey } from '../../../../sandbox/src/software-passkey.ts'
import { createClock } from '../../lib/clock.ts'
import { parseAddress, type Address } from '../../values/address.ts'
import { microUsdc } from '../../values/money.ts'
import type { Enclave, SlotRules, Terms, TransferOrder } from '../enclave.ts'
import { EnclaveRefused } from '../errors.ts'
import { openEnclave } from './open-enclave.ts'
import { findFreePort } from '../../../../test/support/free-port.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'

const WORKSPACE_ID = 'acc_1'
const CHAIN_ID = 84532
const MINUTE_MS = 60_000
const CONTROL_TOKEN = 'control-token'
const PAYEE = address('0x52908400098527886e0f7030069857d2e4169ee7')
const STRANGER = address('0x8617e340b3d01fa5f11f306f4090fd50e238070d')
const passkey = createSoftwarePasskey({ rpId: 'localhost', origin: 'http://localhost:3000' })

let folder: string
let node: Awaited<ReturnType<typeof startChain>>
let child: ChildProcess
let apiUrl: string
let enclave: Enclave
let usdc: Address
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-enclave-'))
  node = await startChain({
    chainId: CHAIN_ID,
    port: await findFreePort(),
    stateFile: join(folder, 'chain'),
    blockTimeSeconds: 1,
  })
  usdc = address(await deployUsdc(node.rpcUrl))
  child = fork(fileURLToPath(findProgram('enclave')), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...shareCompileCache(),
      ENCLAVE_DATA_DIR: join(folder, 'enclave'),
      ENCLAVE_APP_ID: 'app',
      ENCLAVE_APP_SECRET: 'secret',
      ENCLAVE_CONTROL_TOKEN: CONTROL_TOKEN,
      ENCLAVE_CHAINS: JSON.stringify({ [`eip155:${CHAIN_ID}`]: node.rpcUrl }),
    },
  })
  const [ready] = (await once(child, 'message')) as [{ url: string }]
  apiUrl = ready.url
  enclave = open('secret')
})
after(async () => {
  enclave.close()
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
  await node.stop()
  await rm(folder, { recursive: true, force: true })
})

function open(appSecret: string, timeoutMs = 5_000): Enclave {
  const options = { apiUrl, appId: 'app', appSecret, timeoutMs }
  return openEnclave(options, { clock: createClock(), logger: pino({ level: 'silent' }) })
}

function address(text: string): Address {
  const parsed = parseAddress(text)
  assert.ok(parsed)
  return parsed
}

function soon(): Date {
  return new Date(Date.now() + MINUTE_MS)
}

let serial = 0
function unique(name: string): string {
  serial += 1
  return `${name}-${serial}`
}

async function orderFault(fault: string): Promise<void> {
  const response = await fetch(`${apiUrl}/control/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-enclave-control': CONTROL_TOKEN },
    body: JSON.stringify({ fault, count: 1 }),
  })
  assert.ok(response.ok)
}

/** A wallet with 10 USDC and one slot, which its owner has not filled yet. */
async function grant(change: Partial<Terms> = {}) {
  const { slots, ...wallet } = await enclave.createWallet({
    name: 'Treasury',
    owners: [passkey.publicKeySpki],
    slots: 1,
    workspaceId: WORKSPACE_ID,
  })
  const [slot] = slots
  assert.ok(slot !== undefined)
  const terms: Terms = {
    ruleName: 'grt_1',
    chainId: CHAIN_ID,
    maxPerTxMicro: microUsdc(2_000_000n),
    recipientAllowlist: [PAYEE],
    contractAllowlist: [usdc],
    expiresAt: new Date(Date.now() + 10 * MINUTE_MS),
    x402: true,
    usdc,
    ...change,
  }
  await mintUsdc(node.rpcUrl, { to: wallet.address, amountMicro: 10_000_000n })
  const order = (over: Partial<TransferOrder> = {}): TransferOrder => ({
    enclaveWalletId: wallet.enclaveWalletId,
    signerPrivateKey: slot.privateKey,
    chainId: CHAIN_ID,
    contract: usdc,
    to: PAYEE,
    amountMicro: microUsdc(1_000_000n),
    sponsored: true,
    referenceId: unique('pay'),
    attemptKey: unique('attempt'),
    expiresAt: soon(),
    ...over,
  })
  return { wallet, slot, slots, terms, order }
}

type Granted = Awaited<ReturnType<typeof grant>>

async function activate(granted: Granted): Promise<void> {
  await change(granted, enclave.toRules(granted.terms))
}

async function change({ slot }: Granted, rules: SlotRules): Promise<void> {
  const toSign = enclave.prepareRules({ slot, rules, expiresAt: soon() })
  await toSign.submit(passkey.assert(toSign.payload).response)
  assert.ok(enclave.sameRules(await enclave.readRules(slot), rules))
}

async function awaitFunds(wallet: Address): Promise<void> {
  const client = createPublicClient({ transport: http(node.rpcUrl) })
  const data = `0x70a08231${wallet.slice(2).padStart(64, '0')}` as const
  await waitFor(`USDC in ${wallet}`, async () => {
    const { data: balance } = await client.call({ to: usdc, data })
    return BigInt(balance ?? '0x0') > 0n
  })
}

describe('the local enclave', () => {
  it('stores wallet, signer and rules as requested', async () => {
    const granted = await grant()
    await activate(granted)
    const compare = (terms: Terms) => enclave.compareRecord({ ...granted, rules: enclave.toRules(terms) })
    assert.deepEqual((await compare(granted.terms)).differences, [])
    assert.notDeepEqual((await compare({ ...granted.terms, recipientAllowlist: [] })).differences, [])
  })

  it('sends within the policy, and is found by the reference id', async () => {
    const granted = await grant()
    await activate(granted)
    await awaitFunds(granted.wallet.address)
    const order = granted.order()
    assert.equal((await enclave.findTransfer(order.referenceId, WORKSPACE_ID)).transfer, null)
    const answer = await enclave.sendTransfer(order)
    assert.ok(answer.kind === 'accepted', JSON.stringify(answer))
    const txHash =
      answer.txHash ??
      (await enclave.awaitTxHash(answer.transactionId, { timeoutMs: 5_000, workspaceId: WORKSPACE_ID }))
    assert.match(String(txHash), /^0x[0-9a-f]{64}$/)
    const { transfer: found } = await enclave.findTransfer(order.referenceId, WORKSPACE_ID)
    assert.equal(found?.transactionId, answer.transactionId)
    assert.equal(found.txHash, txHash)
    // The same attempt again returns the same transfer. Another attempt for the same payment has an unknown outcome.
    assert.deepEqual(await enclave.sendTransfer(order), answer)
    assert.equal((await enclave.sendTransfer({ ...order, attemptKey: unique('attempt') })).kind, 'unknown')
    assert.equal((await enclave.sendTransfer({ ...order, amountMicro: microUsdc(2n) })).kind, 'unknown')
  })

  it('refuses what the policy does not allow', async () => {
    const granted = await grant()
    await activate(granted)
    await awaitFunds(granted.wallet.address)
    for (const over of [{ to: STRANGER }, { amountMicro: microUsdc(2_000_001n) }]) {
      const answer = await enclave.sendTransfer(granted.order(over))
      assert.ok(answer.kind === 'refused')
      assert.equal(answer.code, 'policy_violation')
    }
  })

  it('refuses a signer before its grant, and after its revocation', async () => {
    const granted = await grant()
    await awaitFunds(granted.wallet.address)
    assert.equal((await enclave.sendTransfer(granted.order())).kind, 'refused')
    await activate(granted)
    assert.equal((await enclave.sendTransfer(granted.order())).kind, 'accepted')
    await change(granted, [])
    assert.equal((await enclave.sendTransfer(granted.order())).kind, 'refused')
  })

  it('refuses rules that the owner did not sign', async () => {
    const { slot, terms } = await grant()
    const wanted = { slot, rules: enclave.toRules(terms), expiresAt: soon() }
    const { response: assertion } = passkey.assert(enclave.prepareRules({ ...wanted, rules: [] }).payload)
    await assert.rejects(enclave.prepareRules(wanted).submit(assertion), { name: 'EnclaveRefused', status: 401 })
    const late = enclave.prepareRules({ ...wanted, expiresAt: new Date(Date.now() - MINUTE_MS) })
    await assert.rejects(late.submit(passkey.assert(late.payload).response), { code: 'request_expired' })
    assert.deepEqual(await enclave.readRules(slot), [])
  })

  it('takes another owner by the signature of a current one, and then obeys both', async () => {
    const { wallet, slot, terms } = await grant()
    const second = createSoftwarePasskey({ rpId: 'localhost', origin: 'http://localhost:3000' })
    const owners = [passkey.publicKeySpki, second.publicKeySpki]
    const toSign = enclave.prepareOwners({ wallet, owners, expiresAt: soon() })
    const by = (signer: typeof passkey) => toSign.submit(signer.assert(toSign.payload).response)
    await assert.rejects(by(second), { name: 'EnclaveRefused', status: 401 })
    await by(passkey)
    assert.deepEqual(await enclave.readOwners(wallet), owners)
    await orderFault('keys_as_pem')
    assert.deepEqual(await enclave.readOwners(wallet), owners)
    const rules = enclave.prepareRules({ slot, rules: enclave.toRules(terms), expiresAt: soon() })
    await rules.submit(second.assert(rules.payload).response)
    assert.equal((await enclave.readRules(slot)).length, 2)
  })

  it('has no owners for a wallet that it does not know', async () => {
    assert.equal(await enclave.readOwners({ enclaveOwnersId: 'q00000000000000000000000' }), null)
  })

  it('finds a transfer whose response was lost', async () => {
    const granted = await grant()
    await activate(granted)
    await awaitFunds(granted.wallet.address)
    const order = granted.order()
    await orderFault('lost_response')
    const answer = await enclave.sendTransfer(order)
    assert.ok(answer.kind === 'unknown')
    assert.equal(answer.error.status, null)
    const { transfer: found } = await enclave.findTransfer(order.referenceId, WORKSPACE_ID)
    assert.ok(found !== null)
    const txHash =
      found.txHash ?? (await enclave.awaitTxHash(found.transactionId, { timeoutMs: 5_000, workspaceId: WORKSPACE_ID }))
    assert.match(String(txHash), /^0x/)
  })

  for (const [fault, timeoutMs] of [
    ['unavailable', 5_000],
    // Long enough for the request to arrive, even on a busy machine.
    ['timeout', 2_000],
  ] as const) {
    it(`sends nothing with the fault "${fault}", and the next attempt is sent`, async () => {
      const granted = await grant()
      await activate(granted)
      await awaitFunds(granted.wallet.address)
      const order = granted.order()
      const hasty = open('secret', timeoutMs)
      await orderFault(fault)
      assert.equal((await hasty.sendTransfer(order)).kind, 'unknown')
      hasty.close()
      assert.equal((await enclave.findTransfer(order.referenceId, WORKSPACE_ID)).transfer, null)
      assert.equal((await enclave.sendTransfer({ ...order, attemptKey: unique('attempt') })).kind, 'accepted')
    })
  }

  it('is reachable with the right credentials only', async () => {
    await enclave.checkReachable()
    const stranger = open('wrong')
    await assert.rejects(stranger.checkReachable(), EnclaveRefused)
    stranger.close()
  })
})
