/** What the simulation takes for granted. The page "A hundred cells" of the documentation lists it for its readers. */
export interface Assumptions {
  readonly cells: number
  readonly nodes: number
  readonly agents: number
  /**
   * The number of agents of a workspace has a Pareto distribution with this exponent. It is that of the sizes of
   * companies (Axtell, "Zipf Distribution of U.S. Firm Sizes", Science 293, 2001). A smaller one makes larger workspaces.
   */
  readonly sizeExponent: number
  /** No workspace has more agents. */
  readonly workspaceAgentsMax: number
  /** The mean over all workspaces. */
  readonly paymentsPerAgentDay: number
  /** How much this differs between workspaces: the standard deviation of its logarithm (a log-normal distribution). */
  readonly activitySpread: number
  /** The rate in the busiest minute of the day, as a multiple of the day's mean. All workspaces are busy at once. */
  readonly peakFactor: number
  /** Reads of the API for each payment, such as waiting for its confirmation. */
  readonly readsPerPayment: number
  /** A payment has two events, `payment.created` and `payment.confirmed`. */
  readonly deliveriesPerPayment: number
  /** A wallet has at most 50 agents (`WALLET_SLOTS_MAX`). */
  readonly agentsPerWallet: number
  /**
   * From this many payments in a second, a payment costs what it costs with many at once. Nothing was measured between the
   * two costs.
   */
  readonly gatheredFrom: number
  /** How many wallets there are in test mode, as a share of those in live mode. All payments are in live mode. */
  readonly testWallets: number
  readonly processesPerCell: number
  readonly processorsPerNode: number
  /** A node should not be busier than this share in the busiest minute. */
  readonly busyShareMax: number
  /** USDC transfers in a block. "A few hundred" on Base (`chain/adaptive-size.ts`). Base Sepolia has far fewer. */
  readonly transfersPerBlock: { readonly live: number; readonly test: number }
  readonly secondsPerBlock: number
  /** How often the balancer asks each process for `/readyz`, a second (the page "Several processes"). */
  readonly readinessChecksPerSecond: number
  /** For how long an ordinary payment is pending: until the enclave has sent it, and then one block. */
  readonly pendingSeconds: number
}

export const ASSUMPTIONS: Assumptions = {
  cells: 100,
  nodes: 20,
  agents: 10_000_000,
  sizeExponent: 1.06,
  workspaceAgentsMax: 1_000_000,
  paymentsPerAgentDay: 10,
  activitySpread: 1,
  peakFactor: 3,
  readsPerPayment: 3,
  deliveriesPerPayment: 2,
  agentsPerWallet: 10,
  gatheredFrom: 60,
  testWallets: 0.1,
  processesPerCell: 2,
  processorsPerNode: 16,
  busyShareMax: 0.6,
  transfersPerBlock: { live: 300, test: 10 },
  secondsPerBlock: 2,
  readinessChecksPerSecond: 1,
  pendingSeconds: 4,
}
