/** The limits of texts that people write. The forms of the dashboard have the same limits. */

export const NAME_CHARS_MAX = 100
export const AGENT_ID_CODE_POINTS_MAX = 64
