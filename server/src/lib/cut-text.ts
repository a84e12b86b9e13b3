/**
 * Returns the first `charsMax` characters of a text that somebody else wrote. It never cuts inside a character, so the
 * result can be stored and sent: half of a surrogate pair is no text. Surrogates without a partner in the text itself
 * are replaced (U+FFFD).
 */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text.toWellFormed()
  // A character has at most two code units. If the last of these units is half of a pair, it is behind the end.
  const characters = Array.from(text.slice(0, 2 * charsMax))
  return characters.slice(0, charsMax).join('').toWellFormed()
}

/** Returns the text, or its first `charsMax` characters and an ellipsis. */
export function shortenText(text: string, charsMax: number): string {
  const cut = cutText(text, charsMax)
  return cut.length < text.length ? `${cut}…` : cut
}
