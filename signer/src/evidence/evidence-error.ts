/** A part of the evidence does not show what it should. `part` names the part, and `reason` says what is wrong with it. */
export class EvidenceError extends Error {
  override readonly name = 'EvidenceError'
  readonly part: string
  readonly reason: string

  constructor(part: string, reason: string) {
    super(`${part}: ${reason}`)
    this.part = part
    this.reason = reason
  }
}
