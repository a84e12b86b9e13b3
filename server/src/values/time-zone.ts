/** Times as people read them in a time zone, for files. */
export interface TimeZone {
  /** The name in the IANA database, such as `Europe/Berlin`. */
  readonly name: string
  /** Formats a time to the second: `2026-10-31 17:57:52`, which spreadsheets read as a time. */
  format(at: Date): string
  /** Formats the day of a time: `2026-10-31`. */
  formatDay(at: Date): string
}

const NAME_PATTERN = /^[A-Za-z][A-Za-z0-9_+\-/]*$/
export const TIME_ZONE_RULE = 'must be a time zone of the IANA database, such as "Europe/Berlin"'

/** Parses the name of a time zone. Returns null if there is none with this name. */
export function parseTimeZone(name: string): TimeZone | null {
  if (!NAME_PATTERN.test(name)) return null
  try {
    return openTimeZone(name)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function openTimeZone(name: string): TimeZone {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: name,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  })
  const split = (at: Date): readonly [day: string, time: string] => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
    const { year = '', month, day, hour, minute, second } = parts
    return [`${year.padStart(4, '0')}-${month}-${day}`, `${hour}:${minute}:${second}`]
  }
  return { name, format: (at) => split(at).join(' '), formatDay: (at) => split(at)[0] }
}
