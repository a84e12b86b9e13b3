const NAME_CODE_POINTS_MAX = 100
/** Control, format (bidirectional ones included), surrogate, private-use and other invisible characters. */
const STRIPPED = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/gu

/**
 * Makes a client's name safe to display: NFC, on one line, without invisible characters or characters that change the
 * direction of text, at most 100 code points (D36a). Returns an empty string if nothing is left.
 */
export function toClientName(text: string): string {
  const visible = text.replace(/\s/gu, ' ').replace(STRIPPED, '').replace(/ +/g, ' ').normalize('NFC').trim()
  return Array.from(visible).slice(0, NAME_CODE_POINTS_MAX).join('').trim()
}
