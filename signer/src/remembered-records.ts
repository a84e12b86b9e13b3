import { fromBase64Url } from './bytes.ts'
import { parseCanonicalJson } from './canonical-json.ts'
import { decodeRecord, type WalletRecord } from './decode/record.ts'
import { Refusal } from './refusal.ts'
import type { Store } from './store.ts'

const PREFIX = 'wallet-record:'

/** A wallet record, and its canonical JSON in base64url. */
export interface Statement {
  readonly record: WalletRecord
  readonly statement: string
}

/**
 * Refuses a record that contradicts one that this browser remembers: another record for the same address, or a record
 * that claims a policy, signer, list of owners or wallet id of another wallet. Somebody who controls the service could
 * otherwise ask the owner to confirm such a record, and then show requests for one wallet as requests for another.
 */
export function checkRemembered(store: Store, { record, statement }: Statement): void {
  const own = store.getItem(PREFIX + record.address)
  if (own === statement) return
  if (own !== null) {
    throw differs('This browser remembers another record for this wallet')
  }
  const ids = idsOf(record)
  for (const other of listRemembered(store)) {
    if (idsOf(other).some((id) => ids.includes(id))) {
      throw differs(
        `According to this browser’s records, a policy or signer of this wallet belongs to the wallet ${other.address}`,
      )
    }
  }
}

/** To be called only after one of the wallet's passkeys has signed, because any site can send records to this page. */
export function rememberRecord(store: Store, { record, statement }: Statement): void {
  store.setItem(PREFIX + record.address, statement)
}

function listRemembered(store: Store): readonly WalletRecord[] {
  const names = Array.from({ length: store.length }, (_, index) => store.key(index) ?? '')
  return names
    .filter((name) => name.startsWith(PREFIX))
    .flatMap((name) => {
      const value = parseCanonicalJson(fromBase64Url(store.getItem(name) ?? '') ?? new Uint8Array())
      return value === undefined ? [] : [decodeRecord(value)]
    })
}

/** Lists the ids of everything that can belong to one wallet only. */
function idsOf({ enclaveUrl, appId, walletId, quorumId, policies, signers }: WalletRecord): readonly string[] {
  return [walletId, quorumId, ...policies, ...signers].map((id) => `${enclaveUrl} ${appId} ${id}`)
}

function differs(reason: string): Refusal {
  return new Refusal(
    'record_differs',
    `${reason}, so this page signs nothing. Ask the server operator why the record has changed.`,
  )
}
