const NAME_CODE_POINTS_MAX = 100
/** Control, format (bidirectional ones too), surrogate and private-use characters, and others that show nothing. */
const STRIPPED = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/gu

/**
 * What a client calls itself, fit to be shown: NFC, on one line, without characters that can't be seen or that turn the
 * text around, at most 100 code points (D36a). Empty when nothing is left.
 */
export function toClientName(text: string): string {
  const visible = text.replace(/\s/gu, ' ').replace(STRIPPED, '').replace(/ +/g, ' ').normalize('NFC').trim()
  return Array.from(visible).slice(0, NAME_CODE_POINTS_MAX).join('').trim()
}
