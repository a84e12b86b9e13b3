/**
 * What was measured with this service in November 2026, on one machine with two processors (AMD EPYC) that other
 * programs used too. Times are processor time, in microseconds. Each comment names the command that measures it again.
 */
export const MEASURED = {
  /**
   * From the request until the payment is confirmed, at 7 payments a second, of 200 payments in a process that had just
   * been started. Node had compiled little of the code, so it is an upper limit. `npm run bench:cell` measures 30 in a
   * second, after a warm-up.
   */
  payment: { serviceUs: 10_500, databaseUs: 8_900 },
  /** The same with 50 requests at once, which share statements and transactions. `npm run bench:cell`. */
  gatheredPayment: { serviceUs: 2_120, databaseUs: 2_340 },
  /** `GET /v1/payments/{id}` of a settled payment. `npm run bench -- reads`. */
  read: { serviceUs: 256, databaseUs: 105 },
  /** `npm run bench -- webhooks`. */
  delivery: { serviceUs: 283, databaseUs: 331 },
  /** A second of a process that runs all jobs, without payments, with 4,000 wallets. `npm run bench:cell`. */
  jobs: { serviceUs: 41_000, databaseUs: 14_000 },
  /** A second of a process that only waits for requests. `npm run bench:cell`. */
  idleProcess: { serviceUs: 2_300, databaseUs: 5_000 },
  /**
   * A payment with its indexes, as it is after 30,000 payments were made one by one. Measured by hand. If the table is
   * written anew (`vacuum full`), it is 1,600.
   */
  bytesKept: 4_400,
  /** The two events of a payment, and their webhook deliveries, in the same run. They are deleted after 30 days. */
  bytesOf30Days: 6_800,
  /** What a payment with two deliveries adds to PostgreSQL's write-ahead log, in the same run. */
  walBytes: 25_000,
  /** What a cell with 4,000 wallets adds to it in a second without payments. `npm run bench:cell`. */
  idleWalBytes: 18_000,
  /** A map by the first characters of the secret, without TLS: nginx 1.22 with one worker. Measured by hand. */
  routerUs: 36,
  /** A workspace with 720 payments and 1,454 events was copied to another database in 1.4 s. Measured by hand. */
  movedRowsPerSecond: 1_553,
} as const
