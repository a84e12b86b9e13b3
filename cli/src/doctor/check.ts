/** What the doctor has checked, and what came out. */
export interface Check {
  readonly name: 'address' | 'service' | 'clock' | 'credential' | 'file' | 'scopes' | 'agent' | 'wallets'
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** What to do about it. */
  readonly fix?: string
  /** The command that does it. */
  readonly next?: readonly string[]
}
