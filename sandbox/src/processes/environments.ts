import { CHAIN_IDS, LOOPBACK, MODES, caip2Of, type Addresses } from '../addresses.ts'
import { usdcAddress } from '../chain/deploy-usdc.ts'
import type { Profile } from '../enclave/pace.ts'
import type { SandboxState } from '../state/sandbox-state.ts'
import { checkpointFile, enclaveDir } from '../state/data-dir-layout.ts'

export type Environment = Readonly<Record<string, string>>

export interface ServerFacts {
  readonly addresses: Addresses
  readonly state: SandboxState
  readonly databaseUrl: string
  readonly dataDir: string
  /** How many slots a new wallet gets, if not as many as by default. */
  readonly walletSlots?: number | undefined
}

/** Returns the server's environment. The server has no other configuration, as in production. */
export function serverEnvironment({ addresses, state, databaseUrl, dataDir, walletSlots }: ServerFacts): Environment {
  return {
    BURSAR_ENV: 'development',
    BASE_URL: addresses.baseUrl,
    AUTH_URL: addresses.authUrl,
    SIGNER_URL: addresses.signerUrl,
    HOST: LOOPBACK,
    PORT: String(addresses.ports.api),
    AUTH_PORT: String(addresses.ports.auth),
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: state.encryptionKey,
    LOG_CHECKPOINT_FILE: checkpointFile(dataDir),
    PRIVY_API_URL: addresses.enclaveUrl,
    PRIVY_APP_ID: state.enclave.appId,
    PRIVY_APP_SECRET: state.enclave.appSecret,
    TEST_CHAIN_ID: String(CHAIN_IDS.test),
    TEST_RPC_URLS: addresses.rpcUrls.test,
    TEST_USDC: usdcAddress,
    LIVE_CHAIN_ID: String(CHAIN_IDS.live),
    LIVE_RPC_URLS: addresses.rpcUrls.live,
    LIVE_USDC: usdcAddress,
    // The local chains use the ids of public chains, but public explorers do not show their transactions.
    TEST_EXPLORER_URL: 'none',
    LIVE_EXPLORER_URL: 'none',
    FAUCET_URL: `${addresses.controlUrl}/faucet`,
    WEBHOOKS_TO_LOOPBACK: 'true',
    LOG_LEVEL: 'info',
    CLOCK_OFFSET_MS: String(state.clockOffsetMs),
    ...(walletSlots === undefined ? {} : { WALLET_SLOTS: String(walletSlots) }),
  }
}

export function enclaveEnvironment(
  addresses: Addresses,
  { state, dataDir, profile }: { state: SandboxState; dataDir: string; profile: Profile },
): Environment {
  return {
    ENCLAVE_PORT: String(addresses.ports.enclave),
    ENCLAVE_PUBLIC_URL: addresses.enclaveUrl,
    ENCLAVE_DATA_DIR: enclaveDir(dataDir),
    ENCLAVE_APP_ID: state.enclave.appId,
    ENCLAVE_APP_SECRET: state.enclave.appSecret,
    ENCLAVE_CONTROL_TOKEN: state.enclave.controlToken,
    ENCLAVE_CHAINS: JSON.stringify(Object.fromEntries(MODES.map((mode) => [caip2Of(mode), addresses.rpcUrls[mode]]))),
    ENCLAVE_CLOCK_OFFSET_MS: String(state.clockOffsetMs),
    ENCLAVE_PROFILE: profile,
  }
}

export function sellerEnvironment({ ports, rpcUrls }: Addresses, state: SandboxState): Environment {
  return {
    SELLER_PORT: String(ports.seller),
    SELLER_CONTROL_TOKEN: state.enclave.controlToken,
    SELLER_TEST_RPC_URL: rpcUrls.test,
    SELLER_LIVE_RPC_URL: rpcUrls.live,
  }
}
