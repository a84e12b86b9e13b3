/** The format of a file that proves who allowed a payment (D81). `docs/evidence.md` specifies it. */
export const EVIDENCE_FORMAT = 'bursar-evidence/1'
/** The format of an export of many payments. */
export const EVIDENCE_LIST_FORMAT = 'bursar-evidence-list/1'

/** A file with more leaves of one log, or with more signatures, is not made. */
export const LEAVES_MAX = 200
export const SIGNATURES_MAX = 200

/** What a file says about itself. */
export const DOES_NOT_PROVE: readonly string[] = [
  'Who used the passkey, and whether that person understood what they signed.',
  'When the owner signed. The log shows only which leaves came before and after the signature.',
  'That the agent asked for the payment. The service, which holds the key for payments within the grant, could have made it.',
  'That the amount spent in the 24 hours before is complete. Other payments are not in this file.',
  'That the transfer on the chain was made for this payment only. The service could have named the same transfer in two files.',
  'That the grant was not suspended, stopped or revoked before the payment. The service could have left out such a leaf.',
  'That all changes of the owners are in this file, in the order in which they were made. The service could have left one out, or given it another time.',
  'That the times are right. They are those of the clock of the service.',
  'That the log is the only one. Only somebody who has kept another checkpoint of it can find out.',
  'That the enclave accepted and enforced the limits that the owner signed.',
]
