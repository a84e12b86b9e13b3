import { cutText } from '../lib/cut-text.ts'

const NAME_CODE_POINTS_MAX = 100
/**
 * Matches control, format, surrogate, private-use and other invisible characters. Format characters include those that
 * change the direction of text.
 */
const STRIPPED = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/gu

/**
 * Makes a client's name safe to display (D36a). The result is one line of at most 100 code points, in Unicode form NFC.
 * It contains no invisible characters, and none that change the direction of text. Returns an empty string if nothing
 * is left.
 */
export function toClientName(text: string): string {
  const visible = text.replace(/\s/gu, ' ').replace(STRIPPED, '').replace(/ +/g, ' ').normalize('NFC').trim()
  return cutText(visible, NAME_CODE_POINTS_MAX).trim()
}
