/** What the page shows of a request. Everything comes from the signed bytes, except for the service's claims. */
export interface Description {
  readonly title: string
  /** One sentence that says what signing does. */
  readonly summary: string
  readonly facts: readonly Fact[]
  readonly warnings: readonly string[]
  readonly button: string
}

/** A part of what a request does. */
export interface Fact {
  readonly label: string
  readonly lines: readonly Line[]
  /** What is in force now, according to the service. Missing if the request does not change it. */
  readonly before?: readonly Line[] | undefined
}

export interface Line {
  readonly text: string
  /**
   * The name that the service gives to the address or key in `text`. It is shown apart, so that it cannot look like a
   * part of the text.
   */
  readonly claim?: string
}
