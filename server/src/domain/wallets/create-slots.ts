import { randomUUID } from 'node:crypto'
import type { Context } from '../context.ts'
import type { WalletSlot } from './wallet.ts'

/** A slot that no wallet has yet. */
export interface NewSlot extends WalletSlot {
  readonly privateKey: string
}

/**
 * The creation of a slot takes two requests. This many slots are created at the same time, so that the creation of a
 * wallet takes a second or two and not twenty.
 */
const SLOTS_AT_ONCE_MAX = 10

/**
 * Creates all slots of a wallet at the enclave: policies that the quorum owns and that deny everything, each with a
 * signer of its own. Nobody can sign with a slot before its signer is added to the wallet. If the creation of one slot
 * fails, the slots that were already created are never used.
 */
export async function createSlots(
  { enclave, walletSlots }: Pick<Context, 'enclave' | 'walletSlots'>,
  { ownerQuorumId }: { ownerQuorumId: string },
): Promise<NewSlot[]> {
  const created: NewSlot[] = []
  for (let first = 1; first <= walletSlots; first += SLOTS_AT_ONCE_MAX) {
    const count = Math.min(SLOTS_AT_ONCE_MAX, walletSlots - first + 1)
    const numbers = Array.from({ length: count }, (_, index) => first + index)
    created.push(...(await Promise.all(numbers.map((slot) => createSlot(enclave, { slot, ownerQuorumId })))))
  }
  return created
}

async function createSlot(
  enclave: Context['enclave'],
  { slot, ownerQuorumId }: { slot: number; ownerQuorumId: string },
): Promise<NewSlot> {
  const name = `Slot ${slot}`
  const { publicKey, privateKey } = enclave.generateSignerKey()
  const [policyId, signerId] = await Promise.all([
    enclave.createPolicy({ name, ownerQuorumId, idempotencyKey: randomUUID() }),
    enclave.createQuorum({ publicKeys: [publicKey], name }),
  ])
  return { slot, policyId, signerId, privateKey }
}
