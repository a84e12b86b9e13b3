/** Quotes a text for a shell. Within single quotes, a shell treats every character but the quote literally. */
export function quoteShell(text: string): string {
  return /^[\w:/.@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
