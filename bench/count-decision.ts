/** What a request costs, in numbers that can be counted. The load of the machine changes none of them. */
export interface Counts {
  /**
   * How many times the service writes to a socket: once for each round trip to the database, the enclave or the chain,
   * and once for the response.
   */
  readonly writes: number
  /** How many bytes the service sends and receives on all connections. What it writes to its log counts as sent. */
  readonly sentBytes: number
  readonly receivedBytes: number
  /** How many bytes PostgreSQL adds to its write-ahead log. */
  readonly walBytes: number
}

/** The counts with which a run is compared, by the names of the cases. */
export type RecordedCounts = Readonly<Record<string, Counts>>

type Count = keyof Counts

const NAMES: Readonly<Record<Count, string>> = {
  writes: 'writes to sockets',
  sentBytes: 'bytes sent',
  receivedBytes: 'bytes received',
  walBytes: "bytes in PostgreSQL's log",
}
/** By how much a count may rise before the check fails: by `share` of its value or by `least`, whichever is larger. */
const RISE_MAX: Readonly<Record<Count, { readonly share: number; readonly least: number }>> = {
  // A single additional write makes the check fail.
  writes: { share: 0, least: 0.5 },
  sentBytes: { share: 0.1, least: 50 },
  receivedBytes: { share: 0.1, least: 50 },
  walBytes: { share: 0.25, least: 100 },
}

/**
 * Returns the lowest value of each count in all rounds. Other work of the processes can only add to a count, and the
 * lowest value still contains everything that the requests need.
 */
export function lowestCounts(rounds: readonly Counts[]): Counts {
  const lowest = (count: Count): number => Math.min(...rounds.map((round) => round[count]))
  return {
    writes: lowest('writes'),
    sentBytes: lowest('sentBytes'),
    receivedBytes: lowest('receivedBytes'),
    walBytes: lowest('walBytes'),
  }
}

/** Compares the rounds of a case with what was recorded. Returns a sentence for each count that has risen too much. */
export function findRisenCounts(recorded: RecordedCounts, name: string, rounds: readonly Counts[]): string[] {
  const before = recorded[name]
  if (before === undefined) return [`${name} has no recorded counts. Run the check with --record.`]
  const now = lowestCounts(rounds)
  return (Object.keys(NAMES) as Count[]).flatMap((count) => {
    const { share, least } = RISE_MAX[count]
    if (now[count] <= before[count] + Math.max(least, before[count] * share)) return []
    return [`${name}: ${format(now[count])} ${NAMES[count]} for a request, recorded ${format(before[count])}`]
  })
}

/** Describes the counts of a case in one line. */
export function describeCounts(name: string, rounds: readonly Counts[]): string {
  const counts = lowestCounts(rounds)
  const parts = (Object.keys(NAMES) as Count[]).map((count) => {
    const most = Math.max(...rounds.map((round) => round[count]))
    return `${format(counts[count])} (to ${format(most)}) ${NAMES[count]}`
  })
  return `${name}: ${parts.join(', ')}`
}

function format(value: number): string {
  return value < 100 ? value.toFixed(1) : String(Math.round(value))
}
