import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { pino } from 'pino'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, sign } from 'viem/accounts'
import { numberToHex } from 'viem/utils'
import { address, RECIPIENT } from '../../../test/support/context/seed.ts'
import { RpcRefusal, startFakeChain, type FakeChain } from '../../../test/support/wires/fake-chain.ts'
import { microUsdc } from '../values/money.ts'
import { hashAuthorization, usdcDomain, type TransferAuthorization } from '../values/transfer-authorization.ts'
import { ChainUnavailable } from './errors.ts'
import { openChain, type Chain } from './open-chain.ts'

const CHAIN_ID = 84532
const USDC = address('0x036cbd53842c5426634e7929541ec2318f3dcf7e')
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const privateKey = generatePrivateKey()
const wallet = address(privateKeyToAccount(privateKey).address)
const domain = usdcDomain(CHAIN_ID, USDC)
const authorization: TransferAuthorization = {
  ...{ from: wallet, to: RECIPIENT, valueMicro: microUsdc(10_000n), nonce: `0x${'cd'.repeat(32)}` },
  ...{ validAfterSeconds: 0n, validBeforeSeconds: 1_900_000_000n },
}
const digest = hashAuthorization(domain, authorization)

let node: FakeChain
let chain: Chain
/** What the node returns for `eth_getCode` and `eth_call`, or the code of the error with which it rejects the call. */
let answer: string | number
let calls: string[] = []
before(async () => {
  node = await startFakeChain(CHAIN_ID)
  node.intercept = ({ method }) => {
    if (method !== 'eth_getCode' && method !== 'eth_call') return undefined
    calls.push(method)
    if (typeof answer === 'number') throw new RpcRefusal(answer)
    return answer
  }
  const options = { mode: 'test', chainId: CHAIN_ID, rpcUrls: [node.url], usdc: USDC, confirmations: 1 } as const
  chain = openChain({ ...options, timeoutMs: 20_000 }, { logger: pino({ level: 'silent' }) })
})
after(async () => {
  chain.close()
  await node.close()
})

describe('isValidAuthorization of a wallet without code', () => {
  async function check(signature: Hex, over: Partial<TransferAuthorization> = {}): Promise<boolean> {
    const changed = { ...authorization, ...over }
    return await chain.isValidAuthorization({ domain, authorization: changed, signature, form: 'ecdsa' })
  }

  it("accepts the wallet's signature of exactly this authorization, without the chain", async () => {
    calls = []
    const signature = await sign({ hash: digest, privateKey, to: 'hex' })
    assert.equal(await check(signature), true)
    assert.equal(await check(signature, { valueMicro: microUsdc(10_001n) }), false)
    assert.equal(await check(signature, { from: RECIPIENT }), false)
    assert.deepEqual(calls, [])
  })

  it('rejects every other form, as USDC does', async () => {
    const { r, s, yParity = 0 } = await sign({ hash: digest, privateKey })
    const rs = `${r.slice(2)}${s.slice(2)}`
    const high = numberToHex(ORDER - BigInt(s), { size: 32 }).slice(2)
    const v = (parity: number): string => (parity === 0 ? '1b' : '1c')
    assert.equal(await check(`0x${rs}${v(yParity)}`), true)
    const others = [
      `0x${r.slice(2)}${high}${v(1 - yParity)}`,
      `0x${rs}${v(1 - yParity)}`,
      `0x${rs}0${yParity}`,
      `0x${rs}${v(yParity)}00`,
      `0x${rs}`,
      `0x${'00'.repeat(65)}`,
      `0x${'ff'.repeat(64)}1b`,
    ] as const
    for (const other of others) assert.equal(await check(other), false, other)
  })
})

describe('the code of a wallet', () => {
  const isValid = async (): Promise<boolean> => await chain.isValidSignature(wallet, digest, '0xabcd')

  it('is read at the newest block', async () => {
    answer = '0x'
    assert.equal(await chain.readCode(wallet), '0x')
    answer = `0xef0100${'12'.repeat(20)}`
    assert.equal(await chain.readCode(wallet), answer)
  })

  it('decides with the value of ERC-1271 only', async () => {
    const rows: [string, boolean][] = [
      [`0x1626ba7e${'00'.repeat(28)}`, true],
      [`0x1626ba7e${'00'.repeat(27)}01`, false],
      ['0x1626ba7e', false],
      [`0xffffffff${'00'.repeat(28)}`, false],
      ['0x', false],
    ]
    for (const [value, expected] of rows) {
      answer = value
      assert.equal(await isValid(), expected, value)
    }
  })

  it('rejects by reverting, and the node stays in service', async () => {
    answer = 3
    assert.equal(await isValid(), false)
    answer = `0x1626ba7e${'00'.repeat(28)}`
    assert.equal(await isValid(), true)
  })

  it('is unknown if the node fails', async () => {
    answer = -32_603
    await assert.rejects(isValid(), ChainUnavailable)
    answer = 'nonsense'
    await assert.rejects(isValid(), ChainUnavailable)
    await assert.rejects(chain.readCode(wallet), ChainUnavailable)
  })
})
