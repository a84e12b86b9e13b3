import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { formatRequestForAuthorizationSignature, type WalletApiRequestSignatureInput } from '@privy-io/node'
import { encodeFunctionData, erc20Abi } from 'viem'
import { microUsdc } from '../../values/money.ts'
import {
  acceptTransfer,
  makeOrder,
  ORDER_SIGNER,
  signedObject,
  startStubEnclave,
  type StubEnclave,
} from '../../../../test/support/wires/stub-enclave.ts'

let stub: StubEnclave
let enclave: ReturnType<StubEnclave['open']>
before(async () => {
  stub = await startStubEnclave()
  enclave = stub.open()
})
after(() => {
  enclave.close()
  stub.close()
})

describe('the request of sendTransfer', () => {
  it('makes the wallet pay the gas if it is not sponsored', async () => {
    stub.answer(acceptTransfer({ transaction_id: 'tx1', hash: `0x${'a'.repeat(64)}` }))
    await enclave.sendTransfer(makeOrder({ sponsored: false }))
    const body = stub.requests.at(-1)?.body as { sponsor?: unknown }
    assert.equal(body.sponsor, false)
  })

  it('is a sponsored call of transfer, with every member explicit, a key and an expiry', async () => {
    stub.answer(acceptTransfer({ transaction_id: 'tx1', hash: '' }))
    await enclave.sendTransfer(makeOrder())
    const request = stub.requests.at(-1)
    assert.equal(`${request?.method} ${request?.path}`, 'POST /v1/wallets/w00000000000000000000001/rpc')
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [makeOrder().to, 1_500_000n] })
    assert.deepEqual(request?.body, {
      method: 'eth_sendTransaction',
      chain_type: 'ethereum',
      caip2: 'eip155:84532',
      sponsor: true,
      reference_id: 'pay_1',
      params: { transaction: { to: makeOrder().contract, data, value: '0x0', chain_id: 84532 } },
    })
    assert.equal(request.headers['privy-idempotency-key'], 'attempt-1')
    assert.equal(request.headers['privy-request-expiry'], String(Date.UTC(2100, 0, 1)))
    assert.equal(request.headers.authorization, `Basic ${Buffer.from('app-test:APP-SECRET').toString('base64')}`)
  })

  for (const path of ['', '/privy']) {
    it(`carries the signer's signature over exactly what was sent, at the address "${path}"`, async () => {
      const own = stub.open({ path })
      stub.answer(acceptTransfer({ transaction_id: 'tx1', hash: '' }))
      await own.sendTransfer(makeOrder())
      own.close()
      const request = stub.requests.at(-1)
      assert.ok(request)
      const signed = signedObject(stub.apiUrl, request) as WalletApiRequestSignatureInput
      const payload = formatRequestForAuthorizationSignature(signed)
      const spki = createPublicKey({ key: Buffer.from(ORDER_SIGNER.publicKey, 'base64'), format: 'der', type: 'spki' })
      const signature = Buffer.from(String(request.headers['privy-authorization-signature']), 'base64')
      assert.ok(verify('sha256', payload, { key: spki, dsaEncoding: 'der' }, signature))
    })
  }

  it('reuses one connection', async () => {
    const own = stub.open()
    stub.answer(acceptTransfer({ transaction_id: 'tx1', hash: '' }))
    stub.sockets.clear()
    for (let i = 0; i < 5; i++) await own.sendTransfer(makeOrder())
    own.close()
    assert.equal(stub.sockets.size, 1)
  })

  it('is not sent when it has expired already', async () => {
    const sent = stub.requests.length
    const answer = await enclave.sendTransfer(makeOrder({ expiresAt: new Date(0) }))
    assert.ok(answer.kind === 'not_sent')
    assert.equal(answer.code, 'request_expired')
    assert.equal(stub.requests.length, sent)
  })

  it('is not sent with a malformed key, and the error does not repeat the key', async () => {
    await assert.rejects(enclave.sendTransfer(makeOrder({ signerPrivateKey: 'SIGNER-SECRET' })), (error: Error) => {
      return error instanceof TypeError && !error.stack?.includes('SIGNER-SECRET')
    })
    await assert.rejects(enclave.sendTransfer(makeOrder({ amountMicro: microUsdc(0n) })), RangeError)
  })
})
