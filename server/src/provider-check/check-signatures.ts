import type { Hash, Hex } from 'viem'
import { hashTypedData, recoverAddress } from 'viem/utils'
import { expiryOf, compare, type CheckRun, type CheckWallet } from './check-run.ts'
import { describeResponse, type Outcome } from './outcome.ts'
import { toRecord, type ProviderResponse } from './provider-wire.ts'

const PRIMARY_TYPE = 'TransferWithAuthorization'
const TYPES = {
  [PRIMARY_TYPE]: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const
const NONCE: Hash = `0x${'00'.repeat(32)}`
const SIGNATURE_PATTERN = /^0x(?:[0-9a-fA-F]{2})+$/
/** The code at an address that delegates to a contract (EIP-7702): a fixed prefix, and the contract's address. */
const DELEGATED_PATTERN = /^0xef0100[0-9a-f]{40}$/i

/**
 * Step 9: requests two typed-data signatures, one from the wallet's key and one that the wallet's contract code must
 * accept. The owner authorizes the requests, because no policy limits the owner.
 */
export async function checkTypedData(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const { settings, chain } = run
  const domain = { name: 'USDC', version: '2', chainId: settings.chainId, verifyingContract: settings.usdc }
  // This transfer authorization was valid for one second in 1970, so nobody can use it.
  const message = {
    from: wallet.address,
    to: wallet.address,
    value: '1',
    validAfter: '0',
    validBefore: '1',
    nonce: NONCE,
  }
  const typed = { domain, types: TYPES, primary_type: PRIMARY_TYPE, message }
  const digest = hashTypedData({
    domain,
    types: TYPES,
    primaryType: PRIMARY_TYPE,
    message: { ...message, value: 1n, validAfter: 0n, validBefore: 1n },
  })
  const ecdsa = await signTypedData(run, wallet, { typed, type: 'ecdsa' })
  const erc1271 = await signTypedData(run, wallet, { typed, type: 'erc1271' })
  const [plain, wrapped] = [readSignature(ecdsa), readSignature(erc1271)]
  const signer = plain === null ? null : await recoverAddress({ hash: digest, signature: plain }).catch(() => null)
  const isSigner = signer?.toLowerCase() === wallet.address.toLowerCase()
  const isAccepted =
    wrapped !== null && (await chain.acceptsSignature(wallet.address, digest, wrapped).catch(() => false))
  return compare(isSigner && isAccepted, {
    title: 'a typed-data signature, ecdsa then erc1271',
    expected: "ecdsa: 200, by the wallet's key; erc1271: 200, accepted by the wallet's code",
    actual:
      `ecdsa: ${describeResponse(ecdsa)}${plain === null ? '' : isSigner ? ", by the wallet's key" : ', by another key'}; ` +
      `erc1271: ${describeResponse(erc1271)}` +
      (wrapped === null ? '' : isAccepted ? ", accepted by the wallet's code" : ", not accepted by the wallet's code"),
  })
}

/** Step 10: reads the code at the wallet's address after a sponsored transfer. */
export async function checkCode({ chain }: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const code = await chain.readCode(wallet.address).catch(() => null)
  return compare(code !== null && DELEGATED_PATTERN.test(code), {
    title: "the wallet's code afterwards",
    expected: '0xef0100 and the address of a delegate',
    actual: code === null ? 'the node does not respond' : code === '0x' ? 'no code' : code.slice(0, CODE_CHARS_SHOWN),
  })
}

const CODE_CHARS_SHOWN = 60

async function signTypedData(
  run: CheckRun,
  wallet: CheckWallet,
  { typed, type }: { typed: object; type: 'ecdsa' | 'erc1271' },
): Promise<ProviderResponse> {
  return await run.wire.post(`/v1/wallets/${wallet.id}/rpc`, {
    body: {
      method: 'eth_signTypedData_v4',
      chain_type: 'ethereum',
      caip2: `eip155:${run.settings.chainId}`,
      signature_options: { type },
      params: { typed_data: typed },
    },
    expiresAt: expiryOf(run),
    sign: run.passkey.sign,
  })
}

function readSignature({ status, body }: ProviderResponse): Hex | null {
  const { signature } = toRecord(body['data'])
  return status === 200 && typeof signature === 'string' && SIGNATURE_PATTERN.test(signature)
    ? (signature as Hex)
    : null
}
