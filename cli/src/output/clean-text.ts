// Text that a server or a seller wrote may contain control characters, with which it could move the cursor, change
// what was printed before, or make an amount look like another one. So no such character reaches a terminal.

/** Control characters, and those that are invisible or change the direction of the text around them. */
const UNSAFE = String.raw`\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb`
const UNSAFE_PATTERN = new RegExp(`[${UNSAFE}]`, 'gu')
const UNSAFE_IN_BLOCK = new RegExp(`(?![\\n\\t])[${UNSAFE}]`, 'gu')
const BREAKS = /[\r\n\t]+/g
const REPLACEMENT = '\ufffd'

/** Makes text from elsewhere safe within one line: line breaks become spaces, other unsafe characters `\ufffd`. */
export function cleanLine(text: string): string {
  return text.replaceAll(BREAKS, ' ').replaceAll(UNSAFE_PATTERN, REPLACEMENT)
}

/** Makes text of several lines safe. Keeps line breaks and tabs. */
export function cleanBlock(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(UNSAFE_IN_BLOCK, REPLACEMENT)
}

/**
 * Writes a value as JSON that is safe on a terminal. JSON leaves some unsafe characters unescaped. This function
 * escapes them too, so a program still reads the same value.
 */
export function toSafeJson(value: unknown, indent?: number): string {
  // Only the indentation contains line breaks here: JSON has already escaped those of the value.
  return JSON.stringify(value, null, indent).split('\n').map(escapeUnsafe).join('\n')
}

/** Replaces unsafe characters with escapes, as JSON and shells (in `$'…'`) understand them. */
export function escapeUnsafe(text: string): string {
  return text.replaceAll(UNSAFE_PATTERN, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function hasUnsafe(text: string): boolean {
  return text.search(UNSAFE_PATTERN) >= 0
}
