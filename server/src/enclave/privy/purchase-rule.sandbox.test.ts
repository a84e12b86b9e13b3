import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { PrivyClient } from '@privy-io/node'
import { pino } from 'pino'
import type { Hex } from 'viem'
import { deployUsdc } from '../../../../sandbox/src/chain/deploy-usdc.ts'
import { mintUsdc } from '../../../../sandbox/src/chain/mint-usdc.ts'
import { startChain } from '../../../../sandbox/src/chain/start-chain.ts'
import { findProgram, shareCompileCache } from '../../../../sandbox/src/processes/programs.ts'
import { createSoftwarePasskey } from '../../../../sandbox/src/software-passkey.ts'
import { openChain, type Chain } from '../../chain/open-chain.ts'
import { createClock } from '../../lib/clock.ts'
import { parseAddress, type Address } from '../../values/address.ts'
import { microUsdc } from '../../values/money.ts'
import {
  AUTHORIZATION_TYPES,
  usdcDomain,
  type TransferAuthorization,
  type UsdcDomain,
} from '../../values/transfer-authorization.ts'
import type { AuthorizationOrder, Enclave, Terms } from '../enclave.ts'
import { openEnclave } from './open-enclave.ts'
import { findFreePort } from '../../../../test/support/free-port.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'

const CHAIN_ID = 84532
const MINUTE_MS = 60_000
const SELLER = address('0x52908400098527886e0f7030069857d2e4169ee7')
const STRANGER = address('0x8617e340b3d01fa5f11f306f4090fd50e238070d')
/** The end of the grant. The enclave's clock is the real one. */
const EXPIRES_AT = new Date(Math.floor(Date.now() / 1_000) * 1_000 + 60 * MINUTE_MS)
const EXPIRES_AT_SECONDS = BigInt(EXPIRES_AT.getTime() / 1_000)
const passkey = createSoftwarePasskey({ rpId: 'localhost', origin: 'http://localhost:3000' })

let folder: string
let node: Awaited<ReturnType<typeof startChain>>
let child: ChildProcess
let apiUrl: string
let enclave: Enclave
let chain: Chain
let usdc: Address
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-purchases-'))
  const port = await findFreePort()
  node = await startChain({ chainId: CHAIN_ID, port, stateFile: join(folder, 'chain'), blockTimeSeconds: 1 })
  usdc = address(await deployUsdc(node.rpcUrl))
  child = fork(fileURLToPath(findProgram('enclave')), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...shareCompileCache(),
      ENCLAVE_DATA_DIR: join(folder, 'enclave'),
      ENCLAVE_APP_ID: 'app',
      ENCLAVE_APP_SECRET: 'secret',
      ENCLAVE_CONTROL_TOKEN: 'control-token',
      ENCLAVE_CHAINS: JSON.stringify({ [`eip155:${CHAIN_ID}`]: node.rpcUrl }),
    },
  })
  const [ready] = (await once(child, 'message')) as [{ url: string }]
  apiUrl = ready.url
  const logger = pino({ level: 'silent' })
  const options = { apiUrl, appId: 'app', appSecret: 'secret', timeoutMs: 20_000 }
  enclave = openEnclave(options, { clock: createClock(), logger })
  const rpcUrls = [node.rpcUrl]
  chain = openChain({ mode: 'test', chainId: CHAIN_ID, rpcUrls, usdc, confirmations: 1, timeoutMs: 20_000 }, { logger })
})
after(async () => {
  chain.close()
  enclave.close()
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
  await node.stop()
  await rm(folder, { recursive: true, force: true })
})

function address(text: string): Address {
  return parseAddress(text) ?? assert.fail(text)
}

let serial = 0
function unique(name: string): string {
  serial += 1
  return `${name}-${serial}`
}

function soon(): Date {
  return new Date(Date.now() + MINUTE_MS)
}

/** A wallet whose owner has signed a grant, and functions that ask for signatures as its agent's signer. */
async function openGrant(change: Partial<Terms> = {}) {
  const owners = [passkey.publicKeySpki]
  const created = await enclave.createWallet({ workspaceId: 'acc_1', name: 'Treasury', owners, slots: 1 })
  const { enclaveWalletId, address: wallet, slots } = created
  const [slot] = slots
  assert.ok(slot !== undefined)
  const { privateKey } = slot
  const terms: Terms = {
    ...{ ruleName: 'grt_1', chainId: CHAIN_ID, usdc, contractAllowlist: [usdc], recipientAllowlist: [SELLER] },
    ...{ maxPerTxMicro: microUsdc(10_000n), expiresAt: EXPIRES_AT, x402: true },
    ...change,
  }
  const toSign = enclave.prepareRules({ slot, rules: enclave.toRules(terms), expiresAt: soon() })
  await toSign.submit(passkey.assert(toSign.payload).response)

  const authorization: TransferAuthorization = {
    ...{ from: wallet, to: SELLER, valueMicro: microUsdc(10_000n), nonce: `0x${'cd'.repeat(32)}` },
    ...{ validAfterSeconds: 0n, validBeforeSeconds: EXPIRES_AT_SECONDS },
  }
  const sign = async (
    over: Partial<TransferAuthorization> & { domain?: Partial<UsdcDomain>; form?: AuthorizationOrder['form'] } = {},
  ) => {
    const { domain, form = 'ecdsa', ...rest } = over
    return await enclave.signAuthorization({
      ...{ enclaveWalletId, signerPrivateKey: privateKey, form, attemptKey: unique('attempt'), expiresAt: soon() },
      domain: { ...usdcDomain(CHAIN_ID, usdc), ...domain },
      authorization: { ...authorization, ...rest },
    })
  }
  return { enclaveWalletId, privateKey, wallet, authorization, sign }
}

type Granted = Awaited<ReturnType<typeof openGrant>>

function expectSignature(answer: Awaited<ReturnType<Granted['sign']>>): Hex {
  assert.equal(answer.kind, 'signed')
  return answer.kind === 'signed' ? answer.signature : assert.fail()
}

describe('the enclave alone, with a service that has been taken over', () => {
  let granted: Granted
  before(async () => {
    granted = await openGrant()
  })

  test('signs a purchase within the grant, and the wallet would accept it', async () => {
    const signature = expectSignature(await granted.sign())
    const signed = { domain: usdcDomain(CHAIN_ID, usdc), authorization: granted.authorization, signature }
    assert.equal(await chain.isValidAuthorization({ ...signed, form: 'ecdsa' }), true)
    const dearer = { ...granted.authorization, valueMicro: microUsdc(10_001n) }
    assert.equal(await chain.isValidAuthorization({ ...signed, authorization: dearer, form: 'ecdsa' }), false)
    // The wallet has no code yet, so no contract can check a signature of this form.
    assert.equal(await chain.readCode(granted.wallet), '0x')
    assert.equal(await chain.isValidAuthorization({ ...signed, form: 'erc1271' }), false)
  })

  const FORBIDDEN: [name: string, over: Parameters<Granted['sign']>[0]][] = [
    ['another payee', { to: STRANGER }],
    ['a higher value', { valueMicro: microUsdc(10_001n) }],
    ['an authorization that outlives the grant', { validBeforeSeconds: EXPIRES_AT_SECONDS + 1n }],
    ['another token', { domain: { verifyingContract: STRANGER } }],
    ['a domain of another chain', { domain: { chainId: 8453 } }],
    ['a higher value, for the code of the wallet', { valueMicro: microUsdc(10_001n), form: 'erc1271' }],
  ]
  for (const [name, over] of FORBIDDEN) {
    test(`signs nothing for ${name}`, async () => {
      const answer = await granted.sign(over)
      assert.ok(answer.kind === 'refused', answer.kind)
      assert.equal(answer.code, 'policy_violation')
    })
  }

  const [first, ...others] = AUTHORIZATION_TYPES.TransferWithAuthorization
  const domainType = [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ]
  const members = [first, ...others]
  const CHANGED: [name: string, primaryType: string, types: Record<string, readonly object[]>][] = [
    [
      'with the type of the domain',
      'TransferWithAuthorization',
      { EIP712Domain: domainType, TransferWithAuthorization: members },
    ],
    ['in another order', 'TransferWithAuthorization', { TransferWithAuthorization: [...others, first] }],
    [
      'with another member',
      'TransferWithAuthorization',
      { TransferWithAuthorization: [...members, { name: 'more', type: 'uint256' }] },
    ],
    ['of another message', 'ReceiveWithAuthorization', { ReceiveWithAuthorization: members }],
    [
      'of another message beside the allowed type',
      'ReceiveWithAuthorization',
      { TransferWithAuthorization: members, ReceiveWithAuthorization: members },
    ],
  ]
  for (const [name, primary_type, types] of CHANGED) {
    test(`signs nothing for types ${name}`, async () => {
      await assert.rejects(signRaw(granted, { primary_type, types }), { status: 400, error: VIOLATION })
    })
  }

  test('signs the same request with the allowed types', async () => {
    const typed = { primary_type: 'TransferWithAuthorization', types: { TransferWithAuthorization: members } }
    const { signature } = await signRaw(granted, typed)
    assert.equal(signature, expectSignature(await granted.sign()))
  })

  test('signs nothing under a grant without purchases', async () => {
    const old = await openGrant({ x402: false })
    const answer = await old.sign()
    assert.ok(answer.kind === 'refused')
    assert.equal(answer.code, 'policy_violation')
  })

  test('signs nothing after the grant has expired', async () => {
    const ended = await openGrant({ expiresAt: new Date(Date.now() - MINUTE_MS) })
    const past = BigInt(Math.floor(Date.now() / 1_000)) - 120n
    assert.equal((await ended.sign({ validBeforeSeconds: past })).kind, 'refused')
  })

  test('signs for any payee, and for longer, if the grant allows it', async () => {
    const wide = await openGrant({ recipientAllowlist: [], expiresAt: null })
    assert.equal((await wide.sign({ to: STRANGER, validBeforeSeconds: EXPIRES_AT_SECONDS + 1n })).kind, 'signed')
    assert.equal((await wide.sign({ to: STRANGER, valueMicro: microUsdc(10_001n) })).kind, 'refused')
  })
})

test('a wallet with code gets signatures that its code accepts, and no others count', async () => {
  const granted = await openGrant()
  await mintUsdc(node.rpcUrl, { to: granted.wallet, amountMicro: 1_000_000n })
  await waitFor('the USDC', async () => (await chain.readUsdcBalance(granted.wallet)).balanceMicro > 0n)
  const transfer = {
    contract: usdc,
    to: SELLER,
    amountMicro: microUsdc(1n),
    sponsored: true,
    referenceId: unique('pay'),
  }
  const { enclaveWalletId, privateKey, wallet, authorization } = granted
  const order = { enclaveWalletId, signerPrivateKey: privateKey, chainId: CHAIN_ID, attemptKey: unique('attempt') }
  const sent = await enclave.sendTransfer({ ...order, ...transfer, expiresAt: soon() })
  assert.equal(sent.kind, 'accepted')
  await waitFor("the wallet's code", async () => (await chain.readCode(wallet)) !== '0x')
  assert.match(await chain.readCode(wallet), /^0xef0100[0-9a-f]{40}$/i)
  const check = async (signature: Hex, over: Partial<TransferAuthorization> = {}): Promise<boolean> => {
    const domain = usdcDomain(CHAIN_ID, usdc)
    return await chain.isValidAuthorization({
      ...{ domain, authorization: { ...authorization, ...over }, signature, form: 'erc1271' },
    })
  }
  const wrapped = expectSignature(await granted.sign({ form: 'erc1271' }))
  assert.ok(wrapped.length > 2 + 65 * 2)
  assert.equal(await check(wrapped), true)
  assert.equal(await check(wrapped, { to: STRANGER }), false)
  assert.equal(await check(expectSignature(await granted.sign())), false)
  // If the contract reverts, the signature counts as rejected, and the node is still used.
  assert.equal(await chain.isValidSignature(usdc, `0x${'00'.repeat(32)}`, wrapped), false)
  assert.equal(await check(wrapped), true)
})

const VIOLATION = { error: 'RPC request denied due to policy violation', code: 'policy_violation' }

/** Asks for a signature of typed data whose types our own code never sends. */
async function signRaw(
  { enclaveWalletId, privateKey, authorization }: Granted,
  { primary_type, types }: { primary_type: string; types: Record<string, readonly object[]> },
): Promise<{ signature: string }> {
  const { from, to, valueMicro, validAfterSeconds, validBeforeSeconds, nonce } = authorization
  const message = {
    ...{ from, to, nonce, value: String(valueMicro), more: '0' },
    ...{ validAfter: String(validAfterSeconds), validBefore: String(validBeforeSeconds) },
  }
  const sdk = new PrivyClient({ appId: 'app', appSecret: 'secret', apiUrl, maxRetries: 0, logLevel: 'off' })
  const typed_data = { domain: { ...usdcDomain(CHAIN_ID, usdc) }, types: types as never, primary_type, message }
  return await sdk
    .wallets()
    .ethereum()
    .signTypedData(enclaveWalletId, {
      params: { typed_data },
      authorization_context: { authorization_private_keys: [privateKey] },
    })
}
