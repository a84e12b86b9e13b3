import type { Hash, Hex } from 'viem'
import { recoverAddress } from 'viem/utils'
import type { Address } from '../values/address.ts'
import { microUsdc } from '../values/money.ts'
import {
  AUTHORIZATION_PRIMARY_TYPE,
  AUTHORIZATION_TYPES,
  hashAuthorization,
  usdcDomain,
  type SignatureForm,
  type TransferAuthorization,
  type UsdcDomain,
} from '../values/transfer-authorization.ts'
import {
  AMOUNT_MICRO,
  POLICY_VIOLATION,
  compare,
  expiryOf,
  MAX_MICRO,
  type CheckRun,
  type CheckWallet,
} from './check-run.ts'
import { describeResponse, type Outcome } from './outcome.ts'
import { toRecord, type ProviderResponse, type Sign } from './provider-wire.ts'

const NONCE: Hash = `0x${'00'.repeat(32)}`
/** An address that the rule of the grant does not allow. */
const STRANGER = '0x000000000000000000000000000000000000dEaD' as Address
const SIGNATURE_PATTERN = /^0x(?:[0-9a-fA-F]{2})+$/
/** The code at an address that delegates to a contract (EIP-7702): a fixed prefix, and the contract's address. */
const DELEGATED_PATTERN = /^0xef0100[0-9a-f]{40}$/i

/**
 * Step 9: requests two typed-data signatures, one from the wallet's key and one that the wallet's contract code must
 * accept. The owner authorizes the requests, because no policy limits the owner.
 */
export async function checkTypedData(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const { chain, passkey } = run
  const authorization = authorizationOf(wallet)
  const typed = typedDataOf(run, authorization)
  const ecdsa = await signTypedData(run, wallet, { typed, type: 'ecdsa', sign: passkey.sign })
  const erc1271 = await signTypedData(run, wallet, { typed, type: 'erc1271', sign: passkey.sign })
  const [plain, wrapped] = [readSignature(ecdsa), readSignature(erc1271)]
  const digest = hashAuthorization(domainOf(run), authorization)
  const isSigner = await isSignedBy(wallet, digest, plain)
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

/** Step 11: the agent's key asks for three signatures of purchases. The rule of the grant allows only the first one. */
export async function checkPurchaseRule(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const allowed = authorizationOf(wallet)
  const ask = async (authorization: TransferAuthorization): Promise<ProviderResponse> => {
    return await signTypedData(run, wallet, {
      typed: typedDataOf(run, authorization),
      type: 'ecdsa',
      sign: run.agent.sign,
    })
  }
  const signed = await ask(allowed)
  const tooMuch = await ask({ ...allowed, valueMicro: microUsdc(MAX_MICRO + 1n) })
  const stranger = await ask({ ...allowed, to: STRANGER })
  const isSigner = await isSignedBy(wallet, hashAuthorization(domainOf(run), allowed), readSignature(signed))
  return compare(isSigner && isRefused(tooMuch) && isRefused(stranger), {
    title: "purchases under the grant's rule",
    expected: `200, by the wallet's key; above the limit: 400 ${POLICY_VIOLATION}; another payee: 400 ${POLICY_VIOLATION}`,
    actual:
      `${describeResponse(signed)}${isSigner ? ", by the wallet's key" : ''}; ` +
      `above the limit: ${describeResponse(tooMuch)}; another payee: ${describeResponse(stranger)}`,
  })
}

function isRefused({ status, body }: ProviderResponse): boolean {
  return status === 400 && body['code'] === POLICY_VIOLATION
}

/** Returns an authorization of a transfer to the wallet itself. It expired in 1970, so nobody can use it. */
function authorizationOf({ address }: CheckWallet): TransferAuthorization {
  const times = { validAfterSeconds: 0n, validBeforeSeconds: 1n }
  return { from: address, to: address, valueMicro: AMOUNT_MICRO, ...times, nonce: NONCE }
}

function domainOf({ settings }: CheckRun): UsdcDomain {
  return usdcDomain(settings.chainId, settings.usdc)
}

function typedDataOf(run: CheckRun, authorization: TransferAuthorization): object {
  const { from, to, valueMicro, validAfterSeconds, validBeforeSeconds, nonce } = authorization
  const times = { validAfter: String(validAfterSeconds), validBefore: String(validBeforeSeconds) }
  return {
    ...{ domain: domainOf(run), types: AUTHORIZATION_TYPES, primary_type: AUTHORIZATION_PRIMARY_TYPE },
    message: { from, to, value: String(valueMicro), ...times, nonce },
  }
}

async function isSignedBy({ address }: CheckWallet, hash: Hash, signature: Hex | null): Promise<boolean> {
  const signer = signature === null ? null : await recoverAddress({ hash, signature }).catch(() => null)
  return signer?.toLowerCase() === address.toLowerCase()
}

async function signTypedData(
  run: CheckRun,
  wallet: CheckWallet,
  { typed, type, sign }: { typed: object; type: SignatureForm; sign: Sign },
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
    sign,
  })
}

function readSignature({ status, body }: ProviderResponse): Hex | null {
  const { signature } = toRecord(body['data'])
  return status === 200 && typeof signature === 'string' && SIGNATURE_PATTERN.test(signature)
    ? (signature as Hex)
    : null
}
