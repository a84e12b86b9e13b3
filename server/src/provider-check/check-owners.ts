import { normalizePublicKey } from '../enclave/privy/normalize-public-key.ts'
import { generateSignerKey } from '../enclave/privy/signer-key.ts'
import { WALLET_SLOTS_MAX } from '../values/limits.ts'
import { POLICY_VIOLATION, compare, expiryOf, type CheckGrant, type CheckRun, type CheckWallet } from './check-run.ts'
import { describeLanding, awaitLanding, dataOf, hasLanded, sendCheckTransfer } from './check-sends.ts'
import { createCheckWallet } from './create-check-wallet.ts'
import { describeResponse, type Outcome } from './outcome.ts'
import { poll } from './poll.ts'
import { toRecord, type ProviderResponse } from './provider-wire.ts'

/** How long a read may lag behind the change. The service waits about as long. */
const READ_MS_MAX = 3_000
const READ_POLL_MS = 500

/** Step 12: a wallet with as many slots as the service creates at most. */
export async function checkAllSlots(run: CheckRun, { ownerId }: CheckWallet): Promise<Outcome> {
  const title = `a wallet with ${WALLET_SLOTS_MAX} signers, each under an empty policy`
  const expected = `200, the owner, ${WALLET_SLOTS_MAX} signers as written; read back: ${WALLET_SLOTS_MAX} signers as written`
  const publicKeys = Array.from({ length: WALLET_SLOTS_MAX }, () => generateSignerKey().publicKey)
  const [failure, created] = await createCheckWallet(run, { label: 'slots', ownerId, publicKeys })
  if (created === null) return compare(false, { title, expected, actual: failure })
  const { response, slots } = created
  const { id } = response.body
  if (response.status !== 200 || typeof id !== 'string') {
    return compare(false, { title, expected, actual: describeResponse(response) })
  }
  const read = await run.wire.get(`/v1/wallets/${id}`)
  const isOwner = response.body['owner_id'] === ownerId
  const [written, stored] = [countAsWritten(response, slots), countAsWritten(read, slots)]
  return compare(isOwner && written === slots.length && stored === slots.length, {
    title,
    expected,
    actual: `200, ${isOwner ? 'the owner' : 'another owner'}, ${written} signers as written; read back: ${stored} signers as written`,
  })
}

/** Returns how many of a wallet's signers have the position and exactly the one policy with which they were written. */
function countAsWritten({ body }: ProviderResponse, slots: readonly CheckGrant[]): number {
  const signers = body['additional_signers']
  if (!Array.isArray(signers) || signers.length !== slots.length) return 0
  return (signers as unknown[]).map(toRecord).filter((signer, index) => {
    const policies = signer['override_policy_ids']
    const slot = slots[index]
    if (slot === undefined || !Array.isArray(policies)) return false
    return signer['signer_id'] === slot.signerId && policies.length === 1 && policies[0] === slot.policyId
  }).length
}

/** Step 13: the owner empties the policy that step 2 filled. Afterwards, the signer can send nothing. */
export async function checkRevocation(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const path = `/v1/policies/${wallet.slot.policyId}`
  const signed = await run.wire.patch(path, { body: { rules: [] }, expiresAt: expiryOf(run), sign: run.passkey.sign })
  const readRules = async () => countRules(await run.wire.get(path))
  const isEmptied = signed.status === 200 && countRules(signed) === 0
  const isStored = (await poll(async () => (await readRules()) === 0 || null, READ_LIMITS)) !== null
  // The provider simulates a transfer before it checks the policy. A transfer of 0 passes the simulation even if the
  // wallet is empty.
  const refused = await sendCheckTransfer(run, wallet, { reference: 'revoked', amountMicro: 0n })
  const isRefused = refused.status === 400 && refused.body['code'] === POLICY_VIOLATION
  return compare(isEmptied && isStored && isRefused, {
    title: "a policy emptied by the owner's signed PATCH",
    expected: `200, no rules; read back: no rules; a transfer of 0 by the signer: 400 ${POLICY_VIOLATION}`,
    actual:
      `${describeResponse(signed)}${isEmptied ? ', no rules' : ''}; read back: ${isStored ? 'no rules' : 'still rules'}; ` +
      `a transfer of 0 by the signer: ${describeResponse(refused)}`,
  })
}

const READ_LIMITS = { intervalMs: READ_POLL_MS, timeoutMs: READ_MS_MAX }

function countRules({ body }: ProviderResponse): number | null {
  const rules = body['rules']
  return Array.isArray(rules) ? rules.length : null
}

/**
 * Step 14: an owner adds a second passkey to the wallet's owners. This passkey can then sign. The keys are compared as
 * keys, and not as text, because the provider does not document in which form it returns them.
 */
export async function checkOwners(run: CheckRun, { ownerId, slot }: CheckWallet): Promise<Outcome> {
  const { wire, passkey, secondPasskey } = run
  const path = `/v1/key_quorums/${ownerId}`
  const keys = [passkey.publicKey, secondPasskey.publicKey]
  const body = { public_keys: keys, authorization_threshold: 1 }
  const unsigned = await wire.patch(path, { body, expiresAt: expiryOf(run) })
  const signed = await wire.patch(path, { body, expiresAt: expiryOf(run), sign: passkey.sign })
  const texts = await poll(async () => {
    const members = listMembers(await wire.get(path))
    return hasExactly(members, keys) ? members : null
  }, READ_LIMITS)
  // Sets the rules that the policy already has. Only the signature matters.
  const request = { body: { rules: [] }, expiresAt: expiryOf(run), sign: secondPasskey.sign }
  const bySecond = await wire.patch(`/v1/policies/${slot.policyId}`, request)
  const isSame = unsigned.status === 401 && signed.status === 200 && texts !== null && bySecond.status === 200
  const form = texts?.every((text) => keys.includes(text)) === true ? 'in the form that was sent' : 'in another form'
  return compare(isSame, {
    title: "a second passkey for the owners, by the first one's signed PATCH",
    expected: '200; unsigned: 401; read back: both keys; signed by the second: 200',
    actual:
      `${describeResponse(signed)}; unsigned: ${describeResponse(unsigned)}; ` +
      `read back: ${texts === null ? 'other keys' : `both keys, ${form}`}; signed by the second: ${describeResponse(bySecond)}`,
  })
}

function listMembers({ body }: ProviderResponse): readonly string[] {
  const members = body['authorization_keys']
  return Array.isArray(members) ? (members as unknown[]).map((member) => String(toRecord(member)['public_key'])) : []
}

function hasExactly(members: readonly string[], keys: readonly string[]): boolean {
  const normalized = members.map(normalizePublicKey)
  return normalized.length === keys.length && keys.every((key) => normalized.includes(key))
}

/** Step 15: an owner sends a transfer, with the wallet's address as `from`. No policy allows it, and none is needed. */
export async function checkWithdrawal(run: CheckRun, wallet: CheckWallet): Promise<Outcome> {
  const title = "an owner's transfer with `from`"
  const expected = '200, a transaction id; then confirmed, the transfer on the chain'
  const response = await sendCheckTransfer(run, wallet, {
    reference: 'withdrawal',
    from: wallet.address,
    sign: run.passkey.sign,
  })
  const { transactionId } = dataOf(response)
  if (transactionId === null) return compare(false, { title, expected, actual: describeResponse(response) })
  const landing = await awaitLanding(run, wallet, transactionId)
  const actual = `${response.status}, a transaction id; then ${describeLanding(landing)}`
  return compare(response.status === 200 && hasLanded(landing), { title, expected, actual })
}
