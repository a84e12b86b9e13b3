/** What the agents of these examples pay. */
export interface Invoice {
  readonly id: string
  readonly agentId: string
  readonly wallet: string
  readonly payTo: string
  /** Decimal USDC. */
  readonly amountUsdc: string
}

/** Where the examples that do not use the client find the service. */
export interface Service {
  readonly baseUrl: string
  readonly apiKey: string
  readonly timeoutMs: number
}
