/** Why the page does not ask for a passkey. `message` is shown to the person, and sent to the site that asked. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string) {
    super(message)
    this.code = code
  }
}

export type RefusalCode =
  | 'message_invalid'
  | 'request_unreadable'
  | 'request_unknown'
  | 'request_not_of_wallet'
  | 'request_expired'
  | 'record_required'
  | 'record_invalid'
  | 'record_differs'
  | 'passkey_invalid'
  | 'passkey_exists'
