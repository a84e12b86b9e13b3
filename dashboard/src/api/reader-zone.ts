/** The user's time zone, such as `Europe/Berlin`. Some private browsers do not tell it. */
export function readerZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  return timeZone === undefined || timeZone === 'Etc/Unknown' ? 'UTC' : timeZone
}
