/** Why the signer window did not return what it was asked for. */
export type SignerErrorCode =
  | 'not_configured'
  | 'blocked'
  | 'not_loaded'
  | 'closed'
  | 'canceled'
  | 'refused'
  | 'timeout'

const MESSAGES: Readonly<Record<Exclude<SignerErrorCode, 'refused'>, string>> = {
  not_configured: 'The signer page is not set up. The operator of this server must set SIGNER_URL.',
  blocked: 'Your browser blocked the signer window. Allow pop-ups for this site, then try again.',
  not_loaded: 'The signer page did not load. Try again. If it fails again, tell the operator of this server.',
  closed: 'The signer window was closed before you finished. Try again.',
  canceled: 'You canceled in the signer window.',
  timeout: 'The signer window was open for too long. Try again.',
}

export class SignerError extends Error {
  override readonly name = 'SignerError'
  readonly code: SignerErrorCode

  /** For the code `refused`, the message is the `reason` that the signer page gave. */
  constructor(code: 'refused', reason: string)
  constructor(code: Exclude<SignerErrorCode, 'refused'>)
  constructor(code: SignerErrorCode, reason = '') {
    super(code === 'refused' ? reason : MESSAGES[code])
    this.code = code
  }
}
