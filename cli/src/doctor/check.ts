/** What the doctor has checked, and what came out. */
export interface Check {
  readonly name: 'address' | 'service' | 'clock' | 'credential' | 'file' | 'scopes' | 'agent' | 'wallets'
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** How to solve the problem that was found. */
  readonly fix?: string
  /** The command that solves it. */
  readonly next?: readonly string[]
}
