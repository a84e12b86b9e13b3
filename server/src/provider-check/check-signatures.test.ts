import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { encodeFunctionResult, hashTypedData } from 'viem/utils'
import { generatePrivateKey, privateKeyToAccount, sign } from 'viem/accounts'
import { startFakeChain, RpcRefusal, type FakeChain } from '../../../test/support/wires/fake-chain.ts'
import { answerJson, startFakeServer, type FakeServer } from '../../../test/support/wires/fake-server.ts'
import { address } from '../../../test/support/context/seed.ts'
import { createClock } from '../lib/clock.ts'
import { openChainView } from './chain-view.ts'
import type { CheckRun } from './check-run.ts'
import { checkCode, checkPurchaseRule, checkTypedData } from './check-signatures.ts'
import { createPasskey } from './create-passkey.ts'
import { openProviderWire } from './provider-wire.ts'

const KEY = generatePrivateKey()
const OTHER_KEY = generatePrivateKey()
const USDC = address(`0x${'2'.repeat(40)}`)
const WRAPPED = `0x${'ab'.repeat(100)}`
const VALID_SIGNATURE_CALL = '0x1626ba7e'
const BYTES4_ABI = [{ type: 'function', name: 'f', inputs: [], outputs: [{ type: 'bytes4' }] }] as const

interface TypedDataRequest {
  readonly signature_options: { readonly type: string }
  readonly caip2: string
  readonly params: {
    readonly typed_data: {
      readonly domain: { chainId: number }
      readonly types: Record<string, { name: string; type: string }[]>
      readonly primary_type: string
      readonly message: Record<string, unknown>
    }
  }
}

describe('signatures of a wallet that a sponsored transfer has upgraded', () => {
  let provider: FakeServer
  let node: FakeChain
  let run: CheckRun
  const wallet = {
    id: 'wallet',
    address: address(privateKeyToAccount(KEY).address),
    ownerId: 'owner',
    slot: { signerId: 'signer', policyId: 'policy' },
  }
  let signingKey = KEY
  let verdict: 'valid' | 'invalid' | 'revert' = 'valid'
  let code = `0xef0100${'12'.repeat(20)}`
  before(async () => {
    provider = await startFakeServer((_request, body, response) => {
      void answerTypedData(JSON.parse(body) as TypedDataRequest).then((signature) =>
        answerJson(response, { method: 'eth_signTypedData_v4', data: { signature, encoding: 'hex' } }),
      )
    })
    node = await startFakeChain(84532)
    node.intercept = ({ method, params }) => {
      if (method === 'eth_getCode') return code
      const { data = '' } = params[0] as { data?: string }
      if (method !== 'eth_call' || !data.startsWith(VALID_SIGNATURE_CALL)) return undefined
      if (verdict === 'revert') throw new RpcRefusal(3)
      const result = verdict === 'valid' ? VALID_SIGNATURE_CALL : '0xffffffff'
      return encodeFunctionResult({ abi: BYTES4_ABI, functionName: 'f', result })
    }
    const settings = { mode: 'test', chainId: 84532, rpcUrls: [node.url], usdc: USDC, confirmations: 1 } as const
    run = {
      wire: openProviderWire({ apiUrl: provider.url, appId: 'app', appSecret: 'secret' }, null),
      chain: openChainView(settings, null),
      settings: { ...settings, gas: 'sponsored', explorerUrl: null },
      proxy: null,
      clock: createClock(),
      passkey: createPasskey('http://localhost:4101'),
      secondPasskey: createPasskey('http://localhost:4101'),
      agent: { publicKey: '', sign: () => '' },
      runId: 'check-1',
    }
  })
  beforeEach(() => {
    signingKey = KEY
    verdict = 'valid'
    code = `0xef0100${'12'.repeat(20)}`
  })
  after(async () => {
    await node.close()
    await provider.close()
  })

  async function answerTypedData({ signature_options: options, params }: TypedDataRequest): Promise<string> {
    if (options.type === 'erc1271') return WRAPPED
    const { domain, types, primary_type: primaryType, message } = params.typed_data
    const digest = hashTypedData({ domain, types, primaryType, message })
    return await sign({ hash: digest, privateKey: signingKey, to: 'hex' })
  }

  test('are as expected if the wallet’s key made them and its code accepts them', async () => {
    const { verdict, actual } = await checkTypedData(run, wallet)
    assert.equal(actual, "ecdsa: 200, by the wallet's key; erc1271: 200, accepted by the wallet's code")
    assert.equal(verdict, 'same')
    assert.equal((await checkCode(run, wallet)).verdict, 'same')
  })

  test('differ if another key made one', async () => {
    signingKey = OTHER_KEY
    const outcome = await checkTypedData(run, wallet)
    assert.equal(outcome.verdict, 'differs')
    assert.match(outcome.actual, /^ecdsa: 200, by another key;/)
  })

  for (const answer of ['invalid', 'revert'] as const) {
    test(`differ if the wallet's code does not accept one (${answer})`, async () => {
      verdict = answer
      const outcome = await checkTypedData(run, wallet)
      assert.equal(outcome.verdict, 'differs')
      assert.match(outcome.actual, /erc1271: 200, not accepted by the wallet's code$/)
    })
  }

  test('differ if the wallet has no code, or code that is not a delegation', async () => {
    for (const other of ['0x', '0x6080604052']) {
      code = other
      const outcome = await checkCode(run, wallet)
      assert.equal(outcome.verdict, 'differs')
      assert.equal(outcome.actual, other === '0x' ? 'no code' : other)
    }
  })

  test('differ if the provider also signs purchases that the rule of the grant does not allow', async () => {
    const outcome = await checkPurchaseRule(run, wallet)
    assert.equal(outcome.verdict, 'differs')
    assert.equal(outcome.actual, "200, by the wallet's key; above the limit: 200; another payee: 200")
  })
})
