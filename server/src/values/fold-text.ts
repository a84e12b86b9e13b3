/**
 * Texts are compared here without regard to case and accents, so that `ZURICH` finds `Zürich`. The database does not do
 * this: its rules depend on the locale that the operator chose, and the locale `C` folds ASCII letters only.
 */

/** Marks that combine with the letter before them. Only such marks are left out when texts are compared. */
const MARKS = /[\u0300-\u036f]/gu

/** Returns the text without accents and in lower case. */
export function foldText(text: string): string {
  // Some letters have no capital of their own: "ß" becomes "SS".
  return text.normalize('NFKD').replace(MARKS, '').toUpperCase().toLowerCase()
}

/** Returns whether a text contains another one, regardless of case and accents. */
export function containsFolded(text: string, part: string): boolean {
  return foldText(text).includes(foldText(part))
}
