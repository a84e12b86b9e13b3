/** What the page shows of a request. Everything comes from the signed bytes, except for the service's claims. */
export interface Description {
  readonly title: string
  /** One sentence that says what signing does. */
  readonly summary: string
  /** Where `seen` of the facts is from. */
  readonly source?: string | null
  readonly facts: readonly Fact[]
  /** What can harm the owner in this very request. These stay in sight. */
  readonly warnings: readonly string[]
  /**
   * What applies to every request of this kind, the most important one first. One line says how many there are and
   * names the first, and opens all of them.
   */
  readonly notes?: readonly Note[]
  readonly button: string
}

export interface Note {
  /** A few words, in lower case, that say what the note is about. */
  readonly headline: string
  readonly text: string
}

/** A part of what a request does. */
export interface Fact {
  readonly label: string
  readonly lines: readonly Line[]
  /** What was signed in this browser before. Missing if nothing was, or if the request does not change it. */
  readonly seen?: readonly Line[] | undefined
  /** What is in force now, according to the service. Missing if the request does not change it, or if `seen` says it. */
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
